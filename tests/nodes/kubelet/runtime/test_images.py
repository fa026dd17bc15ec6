"""Which images are there, where they come from, and in what words they are not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests.nodes.kubelet.pods.test_plan import record
from tests.nodes.kubelet.runtime.containers import make_order

from windtunnel.nodes.kubelet.runtime.images import ImageStore, as_used, remark
from windtunnel.nodes.kubelet.runtime.protocol import PullFailed
from windtunnel.nodes.kubelet.runtime.registries import Holding, Stock

TABLE = {"registry.test:5000": (Stock("ok*", Holding.BUSYBOX),)}
UNRESOLVED = 'failed to pull and unpack image "{0}": failed to resolve reference "{0}": '

PRESENT = {
    "busybox:1.36": Holding.BUSYBOX,
    "registry.k8s.io/e2e-test-images/busybox:1.36.1-1": Holding.BUSYBOX,
    "example.com/windtunnel:1": Holding.OURS,
    "ghcr.io/run-ai/fake-gpu-operator/status-updater:0.2": Holding.OURS,
}


@pytest.mark.parametrize(("text", "content"), PRESENT.items())
def test_what_is_present_from_the_beginning(text: str, content: Holding) -> None:
    image = ImageStore().find(text)

    assert image is not None
    assert image.holding is content
    assert image.record.id.startswith("sha256:")


MIRROR = "registry.corp/gpu/{}:1"
MARK = (("TOPOLOGY_CM_NAME", "topology"),)
USED = {
    "a component's path": ("any", {"command": ("/bin/mig-faker",)}, "mig-faker"),
    "another of its paths": (
        "any",
        {"command": ("/usr/local/bin/status-exporter-kwok", "-v")},
        "status-exporter-kwok",
    ),
    "a component's name": ("any", {"command": ("topology-server",)}, "topology-server"),
    "the program of all": ("any", {"command": ("windtunnel", "agent", "mig-faker")}, ""),
    "the variable": ("device-plugin", {"environment": MARK}, "device-plugin"),
    "a variable of its own": (
        "mig-faker",
        {"environment": (("NODE_NAME", "node-0"),)},
        "mig-faker",
    ),
    "no variable": ("device-plugin", {}, None),
    "the variable alone": ("any", {"environment": MARK}, None),
    "a command of its own": ("device-plugin", {"environment": MARK, "command": ("sh",)}, None),
}


@pytest.mark.parametrize(("name", "order", "component"), USED.values(), ids=USED)
def test_which_image_of_somebodys_own_name_is_ours(
    name: str, order: dict[str, object], component: str | None
) -> None:
    pulled = ImageStore().pull(MIRROR.format(name))
    used = as_used(pulled, make_order(Path(), **order))

    if component is None:
        assert used == pulled
    else:
        assert (used.holding, used.component) == (Holding.OURS, component)
        assert not used.record.stand_in


REMARKS = {
    "ours": ("a", {"stand_in": False}, None, False),
    "a command that runs": ("a", {}, "the container's command runs with the programs of", False),
    "no command": ("a", {"asleep": True}, "a sleeping process stands for its programs", False),
    "a missing one": ("a", {"missing": "exec: x"}, "the command is not here (exec: x)", False),
    "a part of the operator": (
        "device-plugin",
        {"asleep": True},
        "with the variable TOPOLOGY_CM_NAME",
        True,
    ),
    "its command runs": ("device-plugin", {}, "command runs with", False),
}


@pytest.mark.parametrize(("name", "fields", "words", "warning"), REMARKS.values(), ids=REMARKS)
def test_what_is_said_of_an_image_that_is_a_name(
    name: str, fields: dict[str, object], words: str | None, warning: bool
) -> None:
    known = {"image": MIRROR.format(name), "stand_in": True}
    made = remark(replace(record("c", None), **(known | fields)))  # type: ignore[arg-type]

    if words is None:
        assert made is None
    else:
        assert made is not None
        assert words in made.words
        assert made.warning is warning


ABSENT = ["nginx", "example.com/fake/status-updater", "registry.test:5000/ok1:1"]


@pytest.mark.parametrize("text", ABSENT)
def test_what_is_not(text: str) -> None:
    assert ImageStore(TABLE).find(text) is None


def test_what_was_pulled_is_known_by_its_digest_and_stays() -> None:
    images = ImageStore(TABLE)
    pulled = images.pull("registry.test:5000/ok1:1")

    assert pulled.holding is Holding.BUSYBOX
    assert pulled.record.id.startswith("registry.test:5000/ok1@sha256:")
    assert pulled.record.names == (pulled.record.id, "registry.test:5000/ok1:1")
    assert images.find("registry.test:5000/ok1:1") == pulled
    assert images.records() == [pulled.record]


def test_the_same_name_is_always_the_same_image() -> None:
    first, second = (ImageStore().pull("nginx:1").record for _ in range(2))

    assert first == second
    assert first.stand_in


def test_a_registry_of_the_table_has_nothing_else() -> None:
    with pytest.raises(PullFailed) as failed:
        ImageStore(TABLE).pull("registry.test:5000/team/missing:2")

    name = "registry.test:5000/team/missing:2"
    assert str(failed.value) == (
        f"rpc error: code = NotFound desc = {UNRESOLVED.format(name)}{name}: not found"
    )
    assert failed.value.reason == "ErrImagePull"


def test_a_registry_on_this_machine_that_is_not_there() -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        host = f"127.0.0.1:{server.server_port}"
    with pytest.raises(PullFailed) as failed:
        ImageStore().pull(f"{host}/x:1")

    assert str(failed.value) == (
        f"{UNRESOLVED.format(f'{host}/x:1')}failed to do request: "
        f'Head "http://{host}/v2/x/manifests/1": dial tcp {host}: connect: connection refused'
    )


class _Registry(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(200 if self.path == "/v2/have/manifests/1" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def registry() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Registry) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_registry_on_this_machine_is_asked(registry: str) -> None:
    images = ImageStore()

    assert images.pull(f"{registry}/have:1").record.stand_in
    with pytest.raises(PullFailed, match="not found"):
        images.pull(f"{registry}/have:2")


def test_images_of_a_size_are_listed_largest_first() -> None:
    images = ImageStore(sizes={"busybox:1": 2_407_091, "registry.k8s.io/pause:3.10": 2_407_108})

    assert [(record.names, record.size_bytes) for record in images.records()] == [
        (("registry.k8s.io/pause:3.10",), 2_407_108),
        (("docker.io/library/busybox:1",), 2_407_091),
    ]
