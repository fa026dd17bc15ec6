"""What the processes of one cluster cost: server, node, and the agents in its containers."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> dict[int, str]:
    """Return the processes from ``pid`` down with a short name for each, the eldest first."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            children[int(fields[1])].append(int(folder.name))
    found, line = {}, [pid]
    for each in line:
        found[each] = "server" if each == pid else _name(each)
        line += children[each]
    return found


def pss_mib(pid: int) -> float:
    """Return the proportional set size: what is shared counts in parts; 0 for who has gone."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return int(rollup.split("\nPss:")[1].split()[0]) / 1024


def cpu_seconds(pid: int) -> float:
    """Return what a process has spent so far; 0 for who has gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def cpu_by_name(pid: int) -> dict[str, float]:
    """Return what the processes from ``pid`` down have spent so far, by name."""
    spent: dict[str, float] = defaultdict(float)
    for each, name in tree(pid).items():
        spent[name] += cpu_seconds(each)
    return dict(spent)


def _stat(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` after the name of the command."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _name(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return "gone"
    if "agent" in words[:-1]:
        return words[words.index("agent") + 1]
    return Path(words[0]).name
