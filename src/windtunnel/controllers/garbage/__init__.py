"""Garbage collection: the graph of owners, and what goes with them."""
