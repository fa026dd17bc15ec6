"""What the scheduler writes into conditions and events, word for word.

Source: kube-scheduler v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from windtunnel.client.events import LONGEST_WORDS
from windtunnel.fleet import PodView

_CUT: Final = " ..."

UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"


@dataclass(frozen=True, slots=True)
class Note:
    """One event of the scheduler."""

    type: Literal["Normal", "Warning"]
    reason: str
    action: str
    text: str


def bound(pod: PodView, node: str) -> Note:
    """Return the event of a pod that got its node."""
    return Note("Normal", "Scheduled", "Binding", f"Successfully assigned {pod.key} to {node}")


def failed(message: str) -> Note:
    """Return the event of a pod that got none."""
    return Note("Warning", "FailedScheduling", "Scheduling", cut(message))


def skipped(pod: PodView) -> str:
    """Return what is said of a pod that is being deleted."""
    return f"skip schedule deleting pod: {pod.key}"


def preempted(by: PodView, node: str) -> Note:
    """Return the event of a victim."""
    text = f"Preempted by pod {by.uid} on node {node}"
    return Note("Normal", "Preempted", "Preempting", text)


def disruption(by: PodView) -> tuple[str, str]:
    """Return reason and message of a victim's DisruptionTarget condition."""
    message = f"{by.scheduler}: preempting to accommodate a higher priority pod"
    return "PreemptionByScheduler", message


def cut(text: str) -> str:
    """Return no more bytes of ``text`` than an event takes; a cut shows."""
    body = text.encode()
    if len(body) <= LONGEST_WORDS:
        return text
    return body[: LONGEST_WORDS - len(_CUT)].decode(errors="ignore") + _CUT
