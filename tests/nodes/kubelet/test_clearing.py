"""What pods have left behind is removed, also when they went while nobody looked."""

from __future__ import annotations

import pytest
from tests.nodes.kubelet.bench import Bench

from windtunnel.machinery.tree import Key


def test_nothing_is_left_of_a_pod_that_is_gone(bench: Bench) -> None:
    uid = bench.pod("p")
    log = bench.runtime.containers()[0].log_path
    log.parent.mkdir(parents=True)
    log.touch()
    assert bench.sandboxes.get(uid) is not None

    bench.delete("p", grace=0)
    bench.run(1)

    assert bench.runtime.containers() == []
    assert bench.sandboxes.get(uid) is None
    assert list(bench.settings.log_root.iterdir()) == []


def test_containers_of_a_pod_that_went_while_nobody_looked_are_stopped(bench: Bench) -> None:
    bench.pod("gone")
    stays = bench.pod("stays")
    bench.kubelet.stop()
    bench.world.client.delete("pods", Key("default", "gone"), grace_seconds=0)

    bench.restart()
    bench.run(1)

    assert bench.runtime.stopped == [("main", 2.0)]
    assert [each.pod_uid for each in bench.runtime.containers()] == [stays]


def test_mounts_of_others_are_removed_before_pods_are_received(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = bench.pod("p")
    kept: list[list[str]] = []
    monkeypatch.setattr(bench.volumes, "unmount_others", kept.append)

    bench.restart()

    assert kept == [[uid]]
