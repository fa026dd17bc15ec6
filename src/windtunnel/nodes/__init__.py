"""Who runs pods: ``played`` nodes, whose life is a list of stages, and pools to make them of."""
