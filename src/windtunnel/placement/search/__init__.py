"""The search for a node: gate, filters, sampling, scores and the winner, over one fleet."""

from windtunnel.placement.search.cycle import Cycle, Rotation
from windtunnel.placement.search.decision import Decision, Gate, RefusedNodes, Scores, histogram
from windtunnel.placement.search.nominations import Nominations

__all__ = [
    "Cycle",
    "Decision",
    "Gate",
    "Nominations",
    "RefusedNodes",
    "Rotation",
    "Scores",
    "histogram",
]
