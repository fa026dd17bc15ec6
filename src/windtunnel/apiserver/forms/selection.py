"""Which objects a request's selectors mean, asked of stored versions without decoding them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.kinds import Kind
from windtunnel.machinery.errors import BadRequest
from windtunnel.machinery.field_selectors import FieldSelector
from windtunnel.machinery.selectors import LabelSelector, MalformedSelector
from windtunnel.store import Version

_EVERYWHERE: Final = frozenset({"metadata.name", "metadata.namespace"})


@dataclass(frozen=True, slots=True)
class Selection:
    """A parsed pair of selectors for one kind."""

    labels: LabelSelector
    fields: FieldSelector
    matches: Callable[[Version], bool]

    @property
    def empty(self) -> bool:
        """Whether everything is meant."""
        return self.labels.empty and self.fields.empty

    @property
    def name(self) -> str | None:
        """The one name that is meant, or None."""
        return self.fields.exact("metadata.name")


def select(objects: Objects, kind: Kind, label_selector: str, field_selector: str) -> Selection:
    """Parse the selectors of a request.

    Raises:
        BadRequest: They are malformed, or ask for a field that this kind does not offer.
    """
    try:
        labels = LabelSelector.parse(label_selector)
        fields = FieldSelector.parse(field_selector)
        fields.checked(
            _EVERYWHERE | kind.field_labels,
            lambda label: kind.unknown_field_label.replace("{label}", label),
        )
    except MalformedSelector as problem:
        raise BadRequest(str(problem)) from None

    def fields_match(version: Version) -> bool:
        for name, equal, value in fields.terms:
            if name == "metadata.name":
                given = version.key.name
            elif name == "metadata.namespace":
                given = version.key.namespace
            else:
                given = objects.fields(kind, version).get(name, "")
            if (given == value) is not equal:
                return False
        return True

    if labels.empty and fields.empty:
        return Selection(labels, fields, lambda _: True)
    if fields.empty:
        return Selection(labels, fields, lambda version: labels.matches(version.labels))
    if labels.empty:
        return Selection(labels, fields, fields_match)
    return Selection(
        labels,
        fields,
        lambda version: labels.matches(version.labels) and fields_match(version),
    )
