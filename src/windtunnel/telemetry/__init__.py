"""Counters and log: record only, never serve."""
