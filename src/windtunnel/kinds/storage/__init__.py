"""Volumes, claims and the drivers behind them."""
