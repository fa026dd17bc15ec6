"""The life of nodes: health, taints, eviction, and pods whose node is gone."""
