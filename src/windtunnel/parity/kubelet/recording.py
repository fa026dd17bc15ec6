"""What is seen of a scenario, in the recording's form: pods, events, the node, plugins, answers.

Everything that arrives is written down at once, with the step that was being played; judging
repeats, order and races is left to who compares.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from windtunnel.client import Change, Client
from windtunnel.machinery.tree import Tree

NAMESPACE: Final = "default"
_METADATA: Final = ("generation", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers")


class Recording:
    """One scenario's timeline, and the latest of everything."""

    def __init__(self, node: str) -> None:
        self.timeline: list[Tree] = []
        self.step = 0
        """The step that is being played, counted from 1."""
        self.pods: dict[str, Tree] = {}
        """Those that exist."""
        self.uids: dict[str, str] = {}
        """uid to name of every pod that ever was."""
        self.events: list[Tree] = []
        self.node: Tree | None = None
        self._name = node
        self._written = False
        self._changed = threading.Condition()

    def begin(self) -> None:
        """Write down what comes from here on; what was there is no part of the scenario."""
        with self._changed:
            self._written = True
            self.events.clear()

    def end(self) -> list[Tree]:
        """Write nothing any more; return what was written."""
        with self._changed:
            self._written = False
            return self.timeline

    def watch(self, client: Client) -> None:
        """Follow pods, events and nodes."""
        client.watch("pods", self._pod, namespace=NAMESPACE)
        client.watch("events", self._event, namespace=NAMESPACE)
        client.watch("nodes", self._node)

    def tell(self, stream: str, entry: Tree) -> None:
        """Write an entry; called on any thread."""
        with self._changed:
            self._write(stream, entry)

    def answer(self, answer: Tree) -> None:
        """Write the answer of the present step."""
        self.tell("result", {"step": self.step, **answer})

    def until(self, true: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is true of what has been seen; returns whether it came."""
        with self._changed:
            return self._changed.wait_for(true, seconds)

    def _write(self, stream: str, entry: Tree) -> None:
        if self._written:
            entry = {"stream": stream, "after_step": self.step, "data": entry}
            self.timeline.append(entry)
        self._changed.notify_all()

    def _pod(self, change: Change) -> None:
        if change.type == "SYNCED":
            return
        pod = change.tree()
        name = change.key.name
        metadata = {
            field: pod["metadata"][field] for field in _METADATA if field in pod["metadata"]
        }
        with self._changed:
            self.uids[pod["metadata"]["uid"]] = name
            if change.type == "DELETED":
                self.pods.pop(name, None)
                phase = (pod.get("status") or {}).get("phase")
                entry: Tree = {"type": "DELETED", "metadata": metadata, "phase": phase}
            else:
                self.pods[name] = pod
                entry = {
                    "type": "SET",
                    "metadata": metadata,
                    "nodeName": pod["spec"].get("nodeName"),
                    "status": pod.get("status") or {},
                }
            self._write(f"pod:{name}", entry)

    def _event(self, change: Change) -> None:
        if change.type not in ("ADDED", "MODIFIED"):
            return
        event = change.tree()
        subject = event.get("involvedObject") or {}
        component = (event.get("source") or {}).get("component") or event.get("reportingComponent")
        place = subject.get("fieldPath")
        entry = {
            "type": event.get("type"),
            "reason": event.get("reason"),
            "message": event.get("message"),
            "fieldPath": place,
            "kind": subject.get("kind"),
            "component": component,
        }
        with self._changed:
            self.events.append(event)
            self._write(f"event:{subject.get('name')}|{component}|{place or ''}", entry)

    def _node(self, change: Change) -> None:
        if change.key.name != self._name or change.type == "SYNCED":
            return
        node = change.tree()
        with self._changed:
            self.node = None if change.type == "DELETED" else node
            figures = {
                section: _extended((node.get("status") or {}).get(section))
                for section in ("capacity", "allocatable")
            }
            if any(figures.values()):
                self._write("node", figures)
            else:
                self._changed.notify_all()


def _extended(figures: dict[str, Any] | None) -> dict[str, Any]:
    return {name: figure for name, figure in (figures or {}).items() if "/" in name}
