"""Which agents there are is written where each is needed; here it is seen that all agree."""

from __future__ import annotations

import re
from pathlib import Path

from windtunnel.assembly.components import AGENTS, PROGRAMS
from windtunnel.nodes.kubelet.runtime.images import COMPONENTS

ROOT = Path(__file__).resolve().parents[2]
IMAGES = AGENTS.keys() - {"kubelet"}
"""The kubelet is a machine of the cluster, which no image starts."""


def test_a_node_knows_every_agent_s_image() -> None:
    assert IMAGES == COMPONENTS


def test_the_image_starts_every_agent() -> None:
    text = (ROOT / "images/Containerfile").read_text()
    listed = re.search(r"for component in ([^;]*);", text)

    assert listed is not None
    assert set(listed[1].replace("\\", " ").split()) == IMAGES


def test_the_page_of_agents_has_every_one() -> None:
    text = (ROOT / "docs/reference/agents.md").read_text()
    table, _, _ = text.partition("\n## ")
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]

    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert named == AGENTS.keys() | PROGRAMS.keys()
