from typing import Any, cast

from windtunnel.client import Client
from windtunnel.controllers.endpoints.packing import Content, Packing
from windtunnel.controllers.endpoints.slices import write
from windtunnel.controllers.endpoints.views import SliceView
from windtunnel.controllers.views import Metadata
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree

OWNER: Tree = {"kind": "Service", "name": "s", "uid": "u"}
CONTENT = Content("IPv4", None, [])


class Gone:
    """A server where every slice that is written has just gone."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def patch(self, resource: str, key: Key, patch: Tree) -> Tree:
        self.asked.append(patch["metadata"])
        raise NotFound.of(resource, "", key.name)

    def delete(self, resource: str, key: Key, *, uid: str) -> None:
        self.asked.append(uid)
        raise NotFound.of(resource, "", key.name)


def test_labels_and_annotations_that_are_no_more_wanted_go() -> None:
    present = SliceView(
        Metadata(name="x", uid="1", labels={"a": "1", "b": "2"}, annotations={"t": ""})
    )
    packing = Packing(update=[(present, CONTENT)], delete=[present])
    server = Gone()

    write(cast(Client, server), packing, OWNER, Key("ns", "s"), {"b": "3"}, {})

    assert server.asked == [{"labels": {"a": None, "b": "3"}, "annotations": {"t": None}}, "1"]
