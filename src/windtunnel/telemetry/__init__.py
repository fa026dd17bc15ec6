"""Counters and log: record only, never serve."""

from windtunnel.telemetry.log import Log

__all__ = ["Log"]
