"""The MIG faker: answers what a node's annotation asks for, as the MIG manager would.

It says ``success`` with the mapping, or ``failed`` with an Event that tells why, and leaves the
last mapping in place. Taking the annotation away changes nothing.

Source: fake-gpu-operator 0.2 (mig-faker), which never says ``failed``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from windtunnel.client import Change, Client
from windtunnel.client.events import Recorder, Subject
from windtunnel.devices import GPU, MIG_MAPPING, PRODUCT_LABEL
from windtunnel.gpu.marks import Marks
from windtunnel.gpu.mig_faker.mapping import encoded, mapping_of, parse_wishes
from windtunnel.gpu.mig_faker.settings import Settings
from windtunnel.kernel import DONE, Loop, Result, Worker
from windtunnel.machinery.errors import NotFound
from windtunnel.machinery.tree import Key, Tree

COMPONENT: Final = "mig-faker"
WISHES: Final = "run.ai/mig.config"
STATE: Final = "nvidia.com/mig.config.state"
_COUNT: Final = f"{GPU}.count"


class CutNode(msgspec.Struct):
    """What the MIG faker looks at in its node."""

    metadata: Marks = msgspec.field(default_factory=Marks)


_decoder = msgspec.json.Decoder(CutNode)


class MigFaker:
    """Keeps the mapping of one node as its annotation asks."""

    name = COMPONENT

    def __init__(self, client: Client, loop: Loop, settings: Settings) -> None:
        self._client, self._settings = client, settings
        self._queue = Worker(loop, self).queue
        self._events = Recorder(client, loop, COMPONENT)
        self._node: CutNode | None = None
        self._answered: tuple[str, str] | None = None
        """The wishes that were answered last, and the product they were answered for."""
        self._stop: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._stop = self._client.watch(
            "nodes", self._changed, field_selector=f"metadata.name={self._settings.node}"
        )

    def stop(self) -> None:
        """Watch nothing any more."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def reconcile(self, key: str) -> Result:
        """Answer what the node asks for."""
        node = self._node
        if node is None:
            return DONE
        labels = node.metadata.labels
        wishes, product = node.metadata.annotations.get(WISHES, ""), labels.get(PRODUCT_LABEL, "")
        if not wishes or (wishes, product) == self._answered:
            return DONE
        gpus = int(labels[_COUNT]) if labels.get(_COUNT, "").isdecimal() else 0
        try:
            mapping = encoded(mapping_of(parse_wishes(wishes), key, product, gpus))
        except ValueError as error:
            subject = Subject("Node", key, uid=node.metadata.uid)
            self._events.warning(subject, "MigConfigFailed", f"cannot cut the GPUs: {error}")
            self._write(node, key, {STATE: "failed"}, {})
        else:
            self._write(node, key, {STATE: "success"}, {MIG_MAPPING: mapping})
        self._answered = (wishes, product)
        return DONE

    def _write(
        self, node: CutNode, key: str, labels: dict[str, str], notes: dict[str, str]
    ) -> None:
        """Replace the node with these on it: its rights are to get and update, not to patch."""
        have = node.metadata
        if all(have.labels.get(name) == value for name, value in labels.items()) and all(
            have.annotations.get(name) == value for name, value in notes.items()
        ):
            return
        tree = self._client.get("nodes", Key("", key))
        if tree is None:
            return
        metadata: Tree = tree["metadata"]
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **notes}
        try:
            self._client.update("nodes", tree)
        except NotFound:
            return

    def _changed(self, change: Change) -> None:
        if change.type == "SYNCED" or change.key.name != self._settings.node:
            return
        if change.type == "DELETED":
            self._node = self._answered = None
            return
        self._node = _decoder.decode(change.body)
        self._queue.add(change.key.name)
