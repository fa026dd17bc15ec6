"""What is known of containers after their node was away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.nodes.kubelet.pods.test_plan import record

from windtunnel.nodes.kubelet.runtime.protocol import ContainerState
from windtunnel.nodes.kubelet.runtime.record_files import RecordFiles


def test_what_has_ended_is_known_as_it_ended(tmp_path: Path) -> None:
    files = RecordFiles(tmp_path / "records")
    first, second = record("a", 0), record("a", 3, 1)
    files.keep(second)
    files.keep(record("a"))
    files.keep(first)

    assert files.read(9.0) == [first, second]
    files.forget(first.id)
    files.forget(first.id)
    assert files.read(9.0) == [second]


def test_what_ran_has_ended_unseen(tmp_path: Path) -> None:
    files = RecordFiles(tmp_path / "records")
    files.keep(record("a"))

    (found,) = files.read(9.0)
    assert (found.state, found.exit_code, found.reason) == (ContainerState.EXITED, 255, "Unknown")
    assert (found.pid, found.finished_at) == (0, 9.0)


def test_what_was_being_written_when_the_node_went_is_no_record(tmp_path: Path) -> None:
    files = RecordFiles(tmp_path)
    ran = record("a", 0)
    files.keep(ran)
    (tmp_path / ran.id).replace(tmp_path / f"{ran.id}.new")

    assert files.read(9.0) == []
    assert list(tmp_path.iterdir()) == []


def test_what_never_ran_or_cannot_be_read_is_forgotten(tmp_path: Path) -> None:
    files = RecordFiles(tmp_path)
    assert RecordFiles(tmp_path / "none").read(9.0) == []
    files.keep(replace(record("a"), state=ContainerState.CREATED))
    (tmp_path / "torn").write_text('{"id": "x')

    assert files.read(9.0) == []
    assert list(tmp_path.iterdir()) == []
