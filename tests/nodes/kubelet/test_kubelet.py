"""The part as a whole: whose pods it runs, and what it knows of them."""

from __future__ import annotations

from tests.nodes.kubelet.bench import Bench


def test_pods_of_other_nodes_are_left_alone(bench: Bench) -> None:
    bench.world.create("pods", "far", spec={"nodeName": "other", "containers": [bench.container()]})
    bench.run(1)

    assert bench.runtime.containers() == []


def test_the_newest_container_of_a_name_is_found(bench: Bench) -> None:
    bench.pod("p", {"command": ["sleep", "1", "1"]})
    bench.run(2)
    found = bench.kubelet.find("default", "p", "main")

    assert found is not None
    assert found.attempt == 1
    assert bench.kubelet.find("default", "p", "nope") is None


def test_hosts_files_of_running_containers_follow_the_services(bench: Bench) -> None:
    bench.pod("p", {"command": ["sleep", "60"]})
    bench.run(1)
    hosts = bench.settings.kubelet_root / "pods" / bench.get("p")["metadata"]["uid"] / "etc-hosts"
    assert "web" not in hosts.read_text()

    bench.names[:] = ["127.96.0.9\tweb.default web"]
    bench.kubelet.services_changed()
    bench.kubelet.services_changed()
    bench.run(0.5)

    assert bench.names[0] in hosts.read_text()
