"""The kubelet's own pages, and how it listens and stops."""

from __future__ import annotations

import json
import socket

import pytest
from tests.nodes.kubelet.streams.conftest import Kubelet


@pytest.mark.parametrize("path", ["/healthz", "/healthz/ping"])
def test_it_is_well(kubelet: Kubelet, path: str) -> None:
    assert kubelet.ask("GET", path) == (200, b"ok")


def test_its_pods(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")

    listed = json.loads(kubelet.ask("GET", "/pods")[1])
    running = json.loads(kubelet.ask("GET", "/runningpods/")[1])

    assert [pod["metadata"]["name"] for pod in listed["items"]] == ["p"]
    assert running["kind"] == "PodList"
    assert running["items"][0]["spec"]["containers"][0]["name"] == "main"


def test_its_figures(kubelet: Kubelet) -> None:
    kubelet.runtime.add("p")

    own = kubelet.ask("GET", "/metrics")[1].decode()
    single = kubelet.ask("GET", "/metrics/resource")[1].decode()
    summary = json.loads(kubelet.ask("GET", "/stats/summary")[1])

    assert "kubelet_running_pods 1\n" in own
    assert own.endswith("own 1\n")
    assert (
        'container_start_time_seconds{container="main",namespace="default",pod="p"} 2.0' in single
    )
    assert summary["node"] == {"nodeName": "n1"}
    assert summary["pods"][0]["containers"][0]["startTime"] == "1970-01-01T00:00:02Z"


def test_its_configuration(kubelet: Kubelet) -> None:
    told = json.loads(kubelet.ask("GET", "/configz")[1])

    assert told == {"kubeletconfig": {"kind": "KubeletConfiguration"}}


def test_other_paths_and_methods(kubelet: Kubelet) -> None:
    assert kubelet.ask("GET", "/nowhere") == (404, b"404 page not found\n")
    assert kubelet.ask("DELETE", "/pods")[0] == 405


@pytest.mark.parametrize(
    "raw", [b"\x16\x03\x01\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"x" * (2 << 20)]
)
def test_what_is_no_request_is_refused(kubelet: Kubelet, raw: bytes) -> None:
    with socket.create_connection(("127.0.0.1", kubelet.port), timeout=10) as connection:
        try:
            connection.sendall(raw)
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
        except (ConnectionResetError, BrokenPipeError):
            pass  # it was refused before all of it was read
    assert kubelet.ask("GET", "/healthz")[0] == 200
