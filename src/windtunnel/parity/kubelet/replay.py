"""Plays a file of scenarios, several at once, and writes what was seen."""

from __future__ import annotations

import json
import multiprocessing
import re
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Final

from windtunnel.errors import DataError
from windtunnel.machinery.tree import Tree, dig

_KUBECTL: Final = "1.36"
_ALL: Final = re.compile("")
_TRAILING_SECONDS: Final = 1.6
"""How long is watched after the last step: what the recordings show, between 1.5 and 1.8."""


def read_scenarios(path: Path, only: re.Pattern[str] = _ALL) -> list[Tree]:
    """Return the scenarios of a file whose id and kind a pattern is found in.

    Raises:
        DataError: the file is not of this format.
    """
    try:
        lines = [_checked(json.loads(line)) for line in path.read_text().splitlines() if line]
    except ValueError as error:
        raise DataError(f"{path} holds no recorded scenarios of pods: {error}") from error
    return [one for one in lines if only.search(f"{one['id']} {one['kind']}")]


def replay(
    scenarios: Iterable[Tree], emit: Path, kubectl: str, at_once: int, tell: Callable[[str], None]
) -> int:
    """Play scenarios and write a line for each that could be played.

    Args:
        scenarios: In any order; those that want to be alone come last, one by one.
        emit: The file to write.
        kubectl: The real kubectl.
        at_once: How many of the others are played at the same time.
        tell: Told a line for each that is done.

    Returns:
        How many could not be played.
    """
    scenarios = list(scenarios)
    together = [one for one in scenarios if not one.get("alone")]
    # The longest first: what waits five minutes must not be the last to begin.
    together.sort(key=_length, reverse=True)
    alone = [one for one in scenarios if one.get("alone")]
    failed = 0
    with emit.open("w") as out:
        for batch, workers in ((together, at_once), (alone, 1)):
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(workers, context, max_tasks_per_child=1) as pool:
                playing = {pool.submit(play, one, kubectl): one["id"] for one in batch}
                for done in as_completed(playing):
                    error = done.exception()
                    if error is None:
                        out.write(json.dumps(done.result()) + "\n")
                        out.flush()
                        tell(playing[done])
                    else:
                        failed += 1
                        tell(f"{playing[done]}: {type(error).__name__}: {error}")
    return failed


def other_version(kubectl: str) -> str:
    """Return the version of a kubectl that is not the recording's, "" for one that is."""
    done = subprocess.run(
        [kubectl, "version", "--client"], capture_output=True, text=True, check=False
    )
    found = re.search(r"v?(\d+\.\d+)\S*", done.stdout)
    return "" if found and found[1] == _KUBECTL else found[0] if found else "of no version"


def play(scenario: Tree, kubectl: str) -> Tree:
    """Play one scenario in this process and return what was seen."""
    # Imported here: whoever only hands out scenarios needs no cluster.
    from windtunnel.parity.kubelet.scenario import Scenario

    return Scenario(scenario, kubectl).play(_TRAILING_SECONDS)


def _checked(scenario: Any) -> Tree:
    missing = {"id", "kind", "script"} - set(scenario if isinstance(scenario, dict) else ())
    if missing:
        raise ValueError(f"a line has no {min(missing)}")
    checked: Tree = scenario
    return checked


def _length(scenario: Tree) -> float:
    return max((entry["t"][0] for entry in dig(scenario, "expected", "timeline") or ()), default=0)
