"""What this machine is."""

from __future__ import annotations

from pathlib import Path

from windtunnel.nodes.kubelet.node.machine import look


def test_a_machine_has_what_a_node_has_to_tell(tmp_path: Path) -> None:
    machine = look(tmp_path / "not there yet")

    assert machine.cpus > 0
    assert machine.memory_kib > 0
    assert machine.storage_bytes > 0
    assert machine.boot_id
    assert machine.machine_id
