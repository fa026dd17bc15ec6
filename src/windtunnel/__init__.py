"""Windtunnel: a wind tunnel for GPU clusters. Fake GPUs, real decisions."""

__version__ = "0.1.0"
