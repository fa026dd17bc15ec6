"""ResourceSlices of played nodes, kept as a part says that they are due.

Nothing is judged before the slices and what they follow from are both known: until then, one that
is missing may only not have been heard of yet. A slice that is deleted or edited comes back at
once; one that says what it should is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from windtunnel.client import Change, Client
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree, dig

_SLICES: Final = "resourceslices.resource.k8s.io"


class KeptSlices:
    """The slices of one driver that one part stands for, by node.

    Args:
        client: Whom to watch and write to.
        loop: Where nodes are visited.
        name: Who keeps them.
        driver: Of which driver they are.
        noun: What they hold; a node's first is ``kwok-<node>-<noun>``, and others have a number.
        due: Returns the spec of each slice that a node is to have.
    """

    def __init__(
        self,
        client: Client,
        loop: Loop,
        *,
        name: str,
        driver: str,
        noun: str,
        due: Callable[[str], Sequence[Tree]],
    ) -> None:
        self.name = name
        self._client, self._driver, self._noun, self._due = client, driver, noun, due
        self._queue = Worker(loop, self).queue
        self._there: dict[str, dict[str, Tree]] = {}
        """By node and name, what there is; those of a real plugin too."""
        self._unknown = 2
        self._unvisited: dict[str, None] = {}
        """Nodes that changed before everything was known."""
        self._stop: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._stop = self._client.watch(
            _SLICES, self._changed, field_selector=f"spec.driver={self._driver}"
        )

    def stop(self) -> None:
        """Watch nothing any more."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def visit(self, node: str) -> None:
        """Hear that what is due on a node has changed."""
        if not node:
            return
        if self._unknown:
            self._unvisited[node] = None
        else:
            self._queue.add(node)

    def all_told(self) -> None:
        """Hear that everything that decides what is due has been told once."""
        self._unknown -= 1
        if not self._unknown:
            for node in self._unvisited:
                self._queue.add(node)
            self._unvisited.clear()

    def reconcile(self, key: str) -> Result:
        """Bring the slices of one node in line."""
        first = f"kwok-{key}-{self._noun}"
        due = {
            f"{first}-{number}" if number else first: spec
            for number, spec in enumerate(self._due(key))
        }
        there = self._there.setdefault(key, {})
        for name, spec in due.items():
            tree = there.get(name)
            if tree is None:
                tree = {
                    "apiVersion": "resource.k8s.io/v1",
                    "kind": "ResourceSlice",
                    "metadata": {"name": name},
                    "spec": spec,
                }
                there[name] = self._client.create(_SLICES, tree)
            elif tree["spec"] != spec:
                there[name] = self._client.update(_SLICES, {**tree, "spec": spec})
        for name in [name for name in there if name not in due]:
            if name == first or name.startswith(f"{first}-"):  # not those of a real plugin
                with suppress(NotFound):
                    self._client.delete(_SLICES, Key("", name))
                there.pop(name, None)
        if not there:
            self._there.pop(key, None)
        return DONE

    def _changed(self, change: Change) -> None:
        if change.type == "SYNCED":
            self.all_told()
            return
        tree, name = change.tree(), change.key.name
        node = str(dig(tree, "spec", "nodeName") or "")
        there = self._there.setdefault(node, {})
        known = there.get(name)
        if known is not None and int(known["metadata"]["resourceVersion"]) > change.revision:
            return  # older than what we have written since
        if change.type == "DELETED":
            there.pop(name, None)
        else:
            there[name] = tree
        self.visit(node)
