"""What the API is told of a pod: its containers, its conditions, its phase."""
