"""Which images are there, where they come from, and in what words they are not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from windtunnel.nodes.kubelet.runtime.images import ImageStore, remark
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
    assert remark(image, asleep=False) == ""


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
