"""Volumes of a node's pods: what is in them, where it lies, and who sees it where."""
