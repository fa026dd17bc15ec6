"""Time, order and chance: what every moving part stands on.

One heap of steps decides the order of everything. Live, something outside calls ``run_due`` a few
milliseconds at a time; in virtual time a run calls it until nothing is left. Neither waits in here.
"""

from windtunnel.kernel.chance import Chance
from windtunnel.kernel.clock import Clock, VirtualClock, WallClock
from windtunnel.kernel.line import DONE, Line, Parked, Result, Settled
from windtunnel.kernel.loop import NORMAL, Actor, Loop, ReportFailure, Ticket
from windtunnel.kernel.reconcile import Reconciler, Worker
from windtunnel.kernel.workqueue import WorkQueue

__all__ = [
    "DONE",
    "NORMAL",
    "Actor",
    "Chance",
    "Clock",
    "Line",
    "Loop",
    "Parked",
    "Reconciler",
    "ReportFailure",
    "Result",
    "Settled",
    "Ticket",
    "VirtualClock",
    "WallClock",
    "WorkQueue",
    "Worker",
]
