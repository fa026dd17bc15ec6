"""Deployments: which ReplicaSets they want, at which size, and how far the rollout is."""
