"""Which form the client accepts, and which form its body has.

Protobuf answers are never made: every client that prefers them also accepts JSON. Sources: Accept
and Content-Type handling of kube-apiserver v1.36, texts from its answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from windtunnel.machinery.errors import NotAcceptable, UnsupportedMediaType

JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
PATCH_TYPES: Final = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}
_BROWSERS: Final = ("curl", "Wget", "Mozilla")
_META_VERSIONS: Final = ("v1", "v1beta1")

As = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
_KINDS: Final[dict[str, As]] = {
    "Table": "Table",
    "PartialObjectMetadata": "PartialObjectMetadata",
    "PartialObjectMetadataList": "PartialObjectMetadataList",
}


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer is written."""

    media: str = JSON
    as_kind: As = ""
    as_version: str = "v1"
    discovery: str = ""
    """Version of the aggregated discovery document that is accepted, or ""."""


def _clauses(accept: str) -> list[tuple[float, int, str, dict[str, str]]]:
    found = []
    for position, clause in enumerate(accept.split(",")):
        media, *parameters = [part.strip() for part in clause.split(";")]
        values = dict(part.partition("=")[::2] for part in parameters if part)
        try:
            weight = float(values.pop("q", "1"))
        except ValueError:
            weight = 1.0
        found.append((-weight, position, media, values))
    found.sort()
    return found


@lru_cache(maxsize=256)
def accepted(accept: str, *, lists: bool = False, transforms: bool = True) -> Form:
    """Return the best form for an Accept header.

    Args:
        accept: The header; "" accepts anything.
        lists: Whether the answer is a list (a table is both).
        transforms: Whether tables and metadata forms can be made of the answer.

    Raises:
        NotAcceptable: No clause can be met.
    """
    if not accept:
        return Form()
    plain_seen = False
    for _, _, media, values in _clauses(accept):
        if media in ("*/*", "application/*"):
            media = JSON
        if media in (PROTOBUF, JSON, YAML):
            wanted = values.get("as", "")
            if media == PROTOBUF:
                # A client that takes only protobuf cannot be served.
                continue
            if not wanted:
                return Form(media)
            plain_seen = True
            if not transforms or values.get("g") != "meta.k8s.io":
                if values.get("g") == "apidiscovery.k8s.io" and wanted == "APIGroupDiscoveryList":
                    return Form(media, discovery=values.get("v", ""))
                continue
            if values.get("v") not in _META_VERSIONS:
                continue
            if wanted in _KINDS:
                return Form(media, _KINDS[wanted], values["v"])
    if plain_seen:
        raise NotAcceptable(
            f"only the following media types are accepted: {JSON}, {YAML}, {PROTOBUF}"
        )
    raise NotAcceptable(
        "406: Not Acceptable\n\nAvailable representations: "
        f"{JSON}, {YAML}, {PROTOBUF}, {JSON};stream=watch, {PROTOBUF};stream=watch",
        details={},
    )


def body_form(content_type: str | None) -> str:
    """Return the media type of a body; a missing header means JSON.

    Raises:
        UnsupportedMediaType: The body is in a form that cannot be read.
    """
    media = (content_type or JSON).partition(";")[0].strip().lower()
    if media in (JSON, YAML, PROTOBUF):
        return media
    raise UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        f"{JSON}, {YAML}, {PROTOBUF}"
    )


def patch_form(content_type: str | None, *, strategic: bool = True) -> str:
    """Return which sort of patch a body is: json, merge, strategic or apply.

    Raises:
        UnsupportedMediaType: It is none, or one that this kind does not know.
    """
    media = (content_type or "").partition(";")[0].strip().lower()
    sort = PATCH_TYPES.get(media, "")
    if not sort and strategic:
        raise UnsupportedMediaType("415: Unsupported Media Type", details={})
    if not sort or (sort == "strategic" and not strategic):
        known = [name for name, kind in PATCH_TYPES.items() if strategic or kind != "strategic"]
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join(known)
        )
    return sort


def wants_pretty(pretty: str, user_agent: str) -> bool:
    """Whether JSON is indented: when asked for, or when a human seems to read."""
    if pretty:
        return pretty not in ("0", "false", "False")
    return user_agent.startswith(_BROWSERS)
