"""Why a container could not be started, as its status will say."""

from __future__ import annotations


class MountRefused(Exception):
    """The volumes of a pod cannot be made now.

    Args:
        again_in: After how many seconds it makes sense to try again.
    """

    def __init__(self, again_in: float) -> None:
        super().__init__(f"volumes cannot be made; tried again in {again_in:g} s")
        self.again_in = again_in


class StartRefused(Exception):
    """A container is not started now.

    Args:
        reason: What its status waits for.
        message: The words of its status.
        again_in: After how many seconds it makes sense to try again, where that is known.
    """

    def __init__(self, reason: str, message: str, again_in: float | None = None) -> None:
        super().__init__(message)
        self.reason, self.message, self.again_in = reason, message, again_in
