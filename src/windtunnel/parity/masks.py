"""Masks over what differs from run to run: uids, revisions, times, generated names and addresses.

The recorded answers carry the same masks, so that masked answers can be compared as they are. The
rules are those that the recordings state beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_UID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DAY: Final = r"(?!2006-)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"  # 2006 is Go's example of a layout
_PATTERNS: Final = (
    (re.compile(_DAY + r"\.\d{6}Z"), "<MICROTIME>"),
    (re.compile(_DAY + r"(\.\d+)?Z"), "<TIME>"),
    (re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+"), "<JWT>"),
    (re.compile(r"kube-api-access-[a-z0-9]{5}"), "kube-api-access-<GEN>"),
    (re.compile(r"(too old resource version: \d+) \(\d+\)"), r"\1 (<RV>)"),
    (re.compile(r"(ResourceVersion in object meta: )\d+"), r"\1<RV>"),
    (re.compile(r"(Too large resource version: \d+, current: )\d+"), r"\1<RV>"),
    (re.compile(r"(ResourceVersion in record \()\d+"), r"\1<RV>"),
    (
        re.compile(
            r"(?s)(other than `spec\.containers.*?"
            r"\(allow it to be set to 1 if it was previously negative\))\n.*"
        ),
        r"\1 <DIFF>",
    ),
    (re.compile(r"(?s)(for bound claims)\n.*"), r"\1 <DIFF>"),
    (re.compile(r'(?s)(Invalid value: )"\{\\"apiVersion.*\}": '), r"\1<GOVALUE>: "),
)
_AGE: Final = re.compile(r"(\d+[smhdy]){1,2}")
_SERVICE_ADDRESS: Final = re.compile(r"10\.96\.\d+\.\d+")
_VALUE_FOLLOWS: Final = re.compile(r"value: (?=[\[{])")
_FIRST_NODE_PORT: Final = 30000
_SUFFIX_LENGTH: Final = 5
_read_value: Final = json.JSONDecoder().raw_decode


class Masks:
    """The masks for one case.

    Args:
        captured: What the case has captured, by name; a captured uid or revision keeps its name.
        asked: The text of all requests: what was asked for is not volatile.
        keep_managers: Whether ``metadata.managedFields`` is compared.
    """

    def __init__(
        self, captured: Mapping[str, Any], asked: str = "", *, keep_managers: bool = False
    ) -> None:
        self._named = {
            str(value): name
            for name, value in captured.items()
            if not isinstance(value, (dict, list))
        }
        self._asked, self._keep_managers = asked, keep_managers

    def over(self, tree: Any, key: str = "") -> Any:
        """Return ``tree`` with its volatile values masked; ``key`` is the field it stands in."""
        if isinstance(tree, dict):
            return self._object(tree, key)
        if isinstance(tree, list):
            return [self.over(item, key) for item in tree]
        if isinstance(tree, str):
            return self._text(tree, key)
        return tree

    def _object(self, tree: dict[str, Any], key: str) -> dict[str, Any]:
        masked = {}
        for field, value in tree.items():
            if field == "managedFields" and not self._keep_managers:
                continue
            if field == "description" and key == "columnDefinitions":
                continue
            if self._is_drawn_port(field, value):
                masked[field] = "<NODEPORT>"
            else:
                masked[field] = self.over(value, field)
        prefix, name = tree.get("generateName"), tree.get("name")
        if prefix and isinstance(name, str) and _is_drawn(name, prefix):
            masked["name"] = f"{prefix}<GEN>"
        return masked

    def _is_drawn_port(self, field: str, value: Any) -> bool:
        return (
            field in ("nodePort", "healthCheckNodePort")
            and isinstance(value, int)
            and value >= _FIRST_NODE_PORT
            and str(value) not in self._asked
        )

    def _text(self, text: str, key: str) -> str:
        if key == "resourceVersion" and text not in ("", "0"):
            return f"<RV:{self._named[text]}>" if text in self._named else "<RV>"
        if key == "continue" and text:
            return "<CONTINUE>"
        if key in ("clusterIP", "clusterIPs") and text in self._asked:
            return text
        if key in ("clusterIP", "clusterIPs", "cells") and _SERVICE_ADDRESS.fullmatch(text):
            return "<IP>"
        if key == "cells" and _AGE.fullmatch(text):
            return "<AGE>"
        text = _UID.sub(self._uid, text)
        for pattern, mask in _PATTERNS:
            text = pattern.sub(mask, text)
        return _mask_go_values(text) if "value: " in text else text

    def _uid(self, match: re.Match[str]) -> str:
        name = self._named.get(match[0])
        return f"<UID:{name}>" if name else "<UID>"


def _is_drawn(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and len(name) == len(prefix) + _SUFFIX_LENGTH


def _mask_go_values(text: str) -> str:
    """Mask dumps of Go structs in messages: JSON whose keys are written with capitals."""
    masked, end = "", 0
    for match in _VALUE_FOLLOWS.finditer(text):
        if match.start() < end:
            continue
        try:
            value, after = _read_value(text, match.end())
        except ValueError:
            continue
        if _has_capitals(value):
            masked += text[end : match.end()] + "<GOVALUE>"
            end = after
    return masked + text[end:]


def _has_capitals(value: Any) -> bool:
    if isinstance(value, dict):
        return any(
            (key[:1].isupper() and key.isidentifier()) or _has_capitals(below)
            for key, below in value.items()
        )
    return isinstance(value, list) and any(_has_capitals(item) for item in value)
