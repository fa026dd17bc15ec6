"""How endpoints are packed into slices: few writes first, few slices second.

Pure: what is wanted and what is there go in, what to write comes out. A slice holds endpoints of
one address type and one set of ports. Instead of one that goes and one that comes, one is updated.
Source: endpointslice reconciler of Kubernetes v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from windtunnel.controllers.endpoints.views import SliceView
from windtunnel.machinery.tree import Tree, encode

MOST: Final = 100
"""Endpoints in one slice."""

Ports = tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Endpoints that answer at the same ports."""

    address_type: str
    ports: Ports | None
    """None: a service without pods; ports are not known."""
    endpoints: Sequence[Tree] = ()


@dataclass(slots=True)
class Content:
    """What a slice is to hold."""

    address_type: str
    ports: Ports | None
    endpoints: list[Tree]


@dataclass(slots=True)
class Packing:
    """What is to be written."""

    create: list[Content] = field(default_factory=list)
    update: list[tuple[SliceView, Content]] = field(default_factory=list)
    delete: list[SliceView] = field(default_factory=list)


def pack(groups: Iterable[Group], slices: Iterable[SliceView], relabel: bool = False) -> Packing:
    """Say which slices to write so that they hold exactly these endpoints.

    Args:
        groups: What is wanted; a group without endpoints asks for one empty slice.
        slices: What is there.
        relabel: Write slices whose content is right, too.
    """
    packing = Packing()
    left: dict[tuple[str, bytes], list[SliceView]] = {}
    for each in slices:
        left.setdefault((each.address_type, _identity(each.ports)), []).append(each)
    for group in groups:
        present = left.pop((group.address_type, _identity(group.ports)), [])
        _pack_group(group, present, packing, relabel)
    packing.delete += [each for rest in left.values() for each in rest]
    _reuse(packing)
    return packing


def _pack_group(
    group: Group, present: Sequence[SliceView], packing: Packing, relabel: bool
) -> None:
    """Keep endpoints where they are; fill slices that change anyway, then others, then new ones."""
    wanted = {_key(endpoint): endpoint for endpoint in group.endpoints}
    contents: list[tuple[SliceView, Content]] = []
    changed: list[bool] = []
    for each in present:
        before = list(each.endpoints or ())
        kept = [wanted.pop(key) for old in before if (key := _key(old)) in wanted]
        contents.append((each, Content(group.address_type, group.ports, kept)))
        changed.append(kept != before)
    fresh = list(wanted.values())
    order = sorted(range(len(contents)), key=lambda number: not changed[number])
    for number in order:
        room = MOST - len(contents[number][1].endpoints)
        if fresh and room > 0 and (changed[number] or len(fresh) <= room):
            contents[number][1].endpoints.extend(fresh[:room])
            fresh = fresh[room:]
            changed[number] = True
    empty = [number for number, (_, content) in enumerate(contents) if not content.endpoints]
    spare = empty[0] if not group.endpoints and empty else None
    for number, (each, content) in enumerate(contents):
        if number in empty and number != spare:
            packing.delete.append(each)
        elif changed[number] or relabel:
            packing.update.append((each, content))
    while fresh:
        packing.create.append(Content(group.address_type, group.ports, fresh[:MOST]))
        fresh = fresh[MOST:]
    if not group.endpoints and spare is None:
        packing.create.append(Content(group.address_type, group.ports, []))


def _reuse(packing: Packing) -> None:
    """Turn pairs of a deletion and a creation into updates; the address type cannot change."""
    for content in list(packing.create):
        for each in packing.delete:
            if each.address_type == content.address_type:
                packing.delete.remove(each)
                packing.create.remove(content)
                packing.update.append((each, content))
                break


def _key(endpoint: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what makes an endpoint the same one, whatever its state."""
    target = endpoint.get("targetRef") or {}
    return (*(endpoint.get("addresses") or ()), target.get("uid", ""), endpoint.get("hostname"))


def _identity(ports: Iterable[Tree] | None) -> bytes:
    """Return what tells sets of ports apart; none at all and unknown ones are the same."""
    return b",".join(
        sorted(
            encode([port.get(key) or "" for key in ("name", "protocol", "port", "appProtocol")])
            for port in ports or ()
        )
    )
