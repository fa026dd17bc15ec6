"""Jobs: which pods they want, when they wait, how they end."""
