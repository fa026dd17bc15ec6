"""Services, reached from the node."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.world import World

from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.kubelet.services import ServiceProxy, backends

READY: Tree = {
    "ports": [{"name": "web", "port": 8080}],
    "endpoints": [
        {"addresses": ["10.42.0.5"], "conditions": {"ready": True}},
        {"addresses": ["10.42.0.6"], "conditions": {"ready": False}},
        {"addresses": ["192.168.0.7"]},
    ],
}


def test_only_ready_endpoints_answer_where_they_are_served() -> None:
    assert backends([READY], "web") == [("127.42.0.5", 8080), ("192.168.0.7", 8080)]
    assert backends([READY], "other") == []


@pytest.fixture
def proxy() -> Iterator[tuple[World, ServiceProxy]]:
    world = World()
    made = ServiceProxy(world.client, world.loop, ("127.0.0.1", 6443))
    made.start()
    yield world, made
    made.stop()


def answering() -> socket.socket:
    """Listen where a pod would; the caller accepts."""
    listener = socket.create_server(("127.42.0.5", 0))
    listener.settimeout(10)
    return listener


def test_a_connection_reaches_a_pod_behind_the_service(proxy: tuple[World, ServiceProxy]) -> None:
    world, made = proxy
    with closing(answering()) as pod:
        port = pod.getsockname()[1]
        service = world.create("services", "web", spec={"ports": [{"port": 8099}]})
        world.create(
            "endpointslices.discovery.k8s.io",
            "web-1",
            metadata={"labels": {"kubernetes.io/service-name": "web"}},
            addressType="IPv4",
            ports=[{"name": "", "port": port, "protocol": "TCP"}],
            endpoints=[{"addresses": ["10.42.0.5"], "conditions": {"ready": True}}],
        )
        host, number = made.reach(service, service["spec"]["ports"][0])
        with closing(socket.create_connection((host, number), timeout=10)) as asked:
            asked.sendall(b"who")
            there, _ = pod.accept()
            with closing(there):
                assert there.recv(3) == b"who"
                there.sendall(b"me")
            assert asked.recv(2) == b"me"

    assert host == service["spec"]["clusterIP"].replace("10.", "127.", 1)
    assert made.host_lines("default") == [
        f"{host}\tweb.default web.default.svc web.default.svc.cluster.local web"
    ]


def test_a_service_that_is_gone_is_not_listened_for(proxy: tuple[World, ServiceProxy]) -> None:
    world, made = proxy
    service = world.create("services", "web", spec={"ports": [{"port": 8098}]})
    world.client.delete("services", Key("default", "web"))

    assert made.reach(service, service["spec"]["ports"][0])[0] == service["spec"]["clusterIP"]
    assert made.host_lines("default") == []


def test_pods_behind_a_service_without_an_address_have_names(
    proxy: tuple[World, ServiceProxy],
) -> None:
    world, made = proxy
    world.create("services", "db", spec={"clusterIP": "None", "ports": [{"port": 5432}]})
    world.create(
        "endpointslices.discovery.k8s.io",
        "db-1",
        metadata={"labels": {"kubernetes.io/service-name": "db"}},
        addressType="IPv4",
        endpoints=[
            {"addresses": ["10.42.0.5"], "hostname": "db-0", "conditions": {"ready": True}},
            {"addresses": ["10.42.0.6"], "hostname": "db-1", "conditions": {"ready": False}},
        ],
    )

    names = [line.split()[1] for line in made.host_lines("other")]
    assert names == ["db.default", "db-0.db.default"]


def test_whoever_writes_names_down_hears_of_each_change() -> None:
    world, heard = World(), list[list[str]]()
    made = ServiceProxy(
        world.client,
        world.loop,
        ("127.0.0.1", 6443),
        changed=lambda: heard.append(made.host_lines("default")),
    )
    made.start()
    world.create("services", "web", spec={"ports": [{"port": 8096}]})
    world.create("services", "far", spec={"type": "ExternalName", "externalName": "example.com"})
    world.client.delete("services", Key("default", "web"))
    made.stop()

    assert [len(lines) for lines in heard] == [1, 0]


def test_the_api_server_is_where_it_listens(proxy: tuple[World, ServiceProxy]) -> None:
    _, made = proxy
    api: Tree = {"metadata": {"name": "kubernetes", "namespace": "default"}, "spec": {}}

    assert made.reach(api, {"port": 443}) == ("127.0.0.1", 6443)


def test_a_service_answers_at_the_same_port_after_a_restart(tmp_path: Path) -> None:
    world = World()
    service = world.create("services", "web", spec={"ports": [{"port": 8097}]})
    host = service["spec"]["clusterIP"].replace("10.", "127.", 1)

    def answers() -> int:
        made = ServiceProxy(
            world.client, world.loop, ("127.0.0.1", 6443), memory=tmp_path / "ports"
        )
        made.start()
        _, port = made.reach(service, service["spec"]["ports"][0])
        made.stop()
        return port

    with closing(socket.create_server((host, 8097))):
        first = answers()

    assert first != 8097
    assert answers() == first
    (tmp_path / "ports").write_text("[1, 2")
    assert answers() == 8097
