"""What makes pods and scales them: apps, batch, autoscaling and disruption budgets."""
