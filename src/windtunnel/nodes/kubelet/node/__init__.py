"""The node itself as the API sees it: its object, its figures, its lease."""
