"""Pods in which nothing was found wrong: most are copies of a template, judged once for all.

Two pods count as copies when specs and annotations are equal but for the random end of the token
volume's name, which admission gives to each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from windtunnel.machinery.names import SUFFIX_LENGTH, SUFFIX_LETTERS
from windtunnel.machinery.tree import Tree, encode

_Finding = TypeVar("_Finding")

TOKEN_VOLUME: Final = "kube-api-access-"
_MOST_REMEMBERED: Final = 512


def unless_sound(
    judge: Callable[[Tree], list[_Finding]],
) -> Callable[[Tree], list[_Finding]]:
    """Return a judge of pods that looks at copies of a pod only until it finds one sound.

    Args:
        judge: A pure function of spec, annotations and, where a volume is made for the pod, name.
    """
    sound: set[bytes] = set()

    def judged(pod: Tree) -> list[_Finding]:
        looks = _looks(pod)
        if looks in sound:
            return []
        found = judge(pod)
        if not found:
            if len(sound) >= _MOST_REMEMBERED:
                sound.clear()
            sound.add(looks)
        return found

    return judged


def _looks(pod: Tree) -> bytes:
    """Return all of a pod that its copies share."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    looks = encode([spec, metadata.get("annotations")])
    for volume in spec.get("volumes") or ():
        name = volume.get("name") or ""
        if _is_token_volume(name):
            looks = looks.replace(name.encode(), TOKEN_VOLUME.encode())
        elif "ephemeral" in volume:
            looks += encode(metadata.get("name"))
    return looks


def _is_token_volume(name: Any) -> bool:
    return (
        name.startswith(TOKEN_VOLUME)
        and len(name) == len(TOKEN_VOLUME) + SUFFIX_LENGTH
        and set(SUFFIX_LETTERS).issuperset(name[len(TOKEN_VOLUME) :])
    )
