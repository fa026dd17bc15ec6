"""Names of images: what a reference means in full, and which text is no name.

Source: the grammar of ``distribution/reference``, with the texts that a kubelet's events show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_PATH: Final = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_HOST: Final = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
    r"|\[[0-9a-fA-F:]+\])(?::\d+)?"
)
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}")
_NAME_AT_MOST: Final = 255


@dataclass(frozen=True, slots=True)
class Reference:
    """A name of an image: registry, repository, and a tag or a digest."""

    registry: str
    repository: str
    tag: str
    digest: str = ""

    @property
    def name(self) -> str:
        """The repository with its registry."""
        return f"{self.registry}/{self.repository}"

    def __str__(self) -> str:
        return f"{self.name}@{self.digest}" if self.digest else f"{self.name}:{self.tag}"


def parse_reference(text: str) -> Reference:
    """Read a reference; what it leaves out is Docker's registry, its library, and "latest".

    Raises:
        ValueError: The text is no name; says why as Go's parser does.
    """
    rest, _, digest = text.partition("@")
    if "@" in text and not _DIGEST.fullmatch(digest):
        raise ValueError("invalid reference format")
    head, slash, tail = rest.partition("/")
    if slash and ("." in head or ":" in head or head == "localhost" or head != head.lower()):
        registry, path = head, tail
    else:
        registry, path = "docker.io", rest
    path, colon, tag = path.partition(":")
    if colon and not _TAG.fullmatch(tag):
        raise ValueError("invalid reference format")
    if registry == "docker.io" and "/" not in path:
        path = f"library/{path}"
    if not _HOST.fullmatch(registry) or not _PATH.fullmatch(path):
        if _PATH.fullmatch(path.lower()):
            raise ValueError(
                f"invalid reference format: repository name ({path}) must be lowercase"
            )
        raise ValueError("invalid reference format")
    if len(f"{registry}/{path}") > _NAME_AT_MOST:
        raise ValueError("repository name must not be more than 255 characters")
    return Reference(registry, path, tag or ("" if digest else "latest"), digest)


def refusal(text: str, error: ValueError) -> str:
    """Say what a kubelet says of a name that is none."""
    words = f"couldn't parse image name {quoted(text)}: {error}"
    return f"Failed to apply default image tag {quoted(text)}: {words}"


def quoted(text: str) -> str:
    """Quote as Go's %q does."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
