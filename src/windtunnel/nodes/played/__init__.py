"""Played nodes: nodes and pods that live by stages, as kwok plays them. Nothing runs anywhere.

Stages are data (``stages/``), the language they are written in is ``language``.
"""

from windtunnel.nodes.played.played_nodes import PlayedNodes
from windtunnel.nodes.played.settings import Settings

__all__ = ["PlayedNodes", "Settings"]
