"""Pods, the richest kind: defaults, judgement, changes, status and the arithmetic of requests."""
