"""Why a container could not be started, as its status will say."""

from __future__ import annotations


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
