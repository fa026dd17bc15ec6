"""Which agents there are, and how each is made: plain constructor calls, in this one file.

A component is added by a function here and a line in one of the two tables. What a function needs
is imported inside it, so that an agent pays for nothing but itself: a part lives on the loop until
the process is told to end, a program runs once and returns its exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from windtunnel.assembly.agent import Berth, AgentPart

PARTS: Final[dict[str, Callable[[Berth], AgentPart]]] = {}

PROGRAMS: Final[dict[str, Callable[[Sequence[str], Mapping[str, str]], int]]] = {}
"""(what follows the name on the command line, the environment) -> exit code"""
