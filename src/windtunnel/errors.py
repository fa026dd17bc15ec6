"""The root of our own errors.

    WindtunnelError              a sentence for the user: what, why, what to do
    ├─ UsageError                the command or file asks for something impossible
    ├─ ClusterError              a cluster cannot be started, found, reached or stopped
    └─ DataError                 a data folder or file is damaged or foreign
    BrokenInvariant              a bug: the run stops at once

Refusals of the Kubernetes API are ``windtunnel.machinery.errors.ApiError``, a tree of its own.
"""

from __future__ import annotations


class WindtunnelError(Exception):
    """One clear sentence for the user; the CLI prints it and exits with ``exit_code``."""

    exit_code = 1


class UsageError(WindtunnelError):
    """The command or file asks for something impossible."""

    exit_code = 2


class ClusterError(WindtunnelError):
    """A cluster cannot be started, found, reached or stopped."""

    exit_code = 3


class DataError(WindtunnelError):
    """A data folder or file is damaged, foreign or of another version."""

    exit_code = 4


def machine_refused(error: OSError) -> str:
    """Return what the machine refused, and of which file, where the error says so."""
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


class BrokenInvariant(AssertionError):
    """Something impossible happened: a bug of ours. Never caught."""
