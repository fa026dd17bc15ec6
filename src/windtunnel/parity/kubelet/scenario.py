"""One scenario, from an empty cluster to what was seen of it."""

from __future__ import annotations

import threading
from typing import Final

from windtunnel.machinery.tree import Tree
from windtunnel.parity.kubelet import looks
from windtunnel.parity.kubelet.recording import Recording
from windtunnel.parity.kubelet.site import BUSYBOX, NODE, PORT, SHOWN_BUSYBOX, Site
from windtunnel.parity.kubelet.steps import Performer

_READY_SECONDS: Final = 60.0
_QUIET_SECONDS: Final = 1.0
"""How long what a kubelet says of its start may come after its node is ready."""


class Scenario:
    """A scenario and the kubectl it is played with."""

    def __init__(self, record: Tree, kubectl: str) -> None:
        self._record, self._kubectl = record, kubectl

    def play(self, trailing_seconds: float) -> Tree:
        """Play it, and go on watching for a while."""
        script: list[Tree] = self._record["script"]
        begins = script[0]["op"] == "kubelet_start"
        site = Site(PORT if begins else 0)
        recording = Recording(NODE)
        player = Performer(site, recording, self._kubectl)
        try:
            site.follow(recording)
            if not begins:
                site.node.start({}, None)
                self._until_ready(recording)
            # A script that begins with a restart sets its node up: the recorder looked later.
            set_up = script[0]["op"] == "kubelet_restart"
            if set_up:
                player.play(script[:1])
                threading.Event().wait(_QUIET_SECONDS)
            recording.begin()
            player.play(script, skipped=1 if set_up else 0)
            if begins:
                self._until_ready(recording)
            threading.Event().wait(trailing_seconds)
            return self._emitted(site, recording, begins)
        finally:
            player.close()
            site.close()

    def _until_ready(self, recording: Recording) -> None:
        def ready() -> bool:
            status = (recording.node or {}).get("status") or {}
            return any(
                one["type"] == "Ready" and one["status"] == "True"
                for one in status.get("conditions") or ()
            ) and not (recording.node or {}).get("spec", {}).get("taints")

        if not recording.until(ready, _READY_SECONDS):
            raise TimeoutError("the node never became ready")
        threading.Event().wait(_QUIET_SECONDS)

    def _emitted(self, site: Site, recording: Recording, begins: bool) -> Tree:
        found: Tree = {"id": self._record["id"], "timeline": recording.end()}
        found["replace"] = {
            BUSYBOX: SHOWN_BUSYBOX,
            str(site.kubelet_root): "<kubelet-root>",
        }
        if begins:
            found["timeline"] = []
            found["node"] = looks.shown_node(recording.node or {})
            found["events"] = looks.shown_events(recording.events)
            del found["replace"]
        return found
