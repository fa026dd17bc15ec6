"""Where a probe goes."""

from __future__ import annotations

import pytest

from windtunnel.nodes.kubelet.probes.targets import http_target, port_number, served_at

CONTAINER = {"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}


def test_a_pods_address_is_served_on_the_machine() -> None:
    assert served_at("10.42.0.7") == "127.42.0.7"
    assert served_at("192.168.1.1") == "192.168.1.1"


def test_a_port_may_be_named() -> None:
    assert port_number({"port": "web"}, CONTAINER) == 8080
    assert port_number({"port": 81}, CONTAINER) == 81
    with pytest.raises(ValueError, match="couldn't find port: nope"):
        port_number({"port": "nope"}, CONTAINER)


def test_what_is_told_names_the_address_that_the_api_shows() -> None:
    target = http_target({"port": "web", "path": "/z"}, CONTAINER, "10.42.0.7")

    assert target.url == "http://10.42.0.7:8080/z"
