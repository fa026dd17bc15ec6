"""What the server serves: the declaration of a kind, and the recorded facts behind it."""
