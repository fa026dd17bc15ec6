"""Whose turn it is, and what comes of it: queue, preemption and binding of kube-scheduler v1.36."""

from windtunnel.scheduler.configuration import Configuration, read_configuration
from windtunnel.scheduler.engine import WATCHED, Engine
from windtunnel.scheduler.preemption import Preemption
from windtunnel.scheduler.profile import Profile
from windtunnel.scheduler.scheduler import Scheduler
from windtunnel.scheduler.turn import Attempt
from windtunnel.scheduler.waiting import Place
from windtunnel.scheduler.words import Note, bound, disruption, failed, preempted

__all__ = [
    "WATCHED",
    "Attempt",
    "Configuration",
    "Engine",
    "Note",
    "Place",
    "Preemption",
    "Profile",
    "Scheduler",
    "bound",
    "disruption",
    "failed",
    "preempted",
    "read_configuration",
]
