"""What the parts write down of themselves: record only, never serve."""

from windtunnel.telemetry.log import Log

__all__ = ["Log"]
