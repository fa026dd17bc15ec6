"""Where a probe goes."""

from __future__ import annotations

import pytest

from windtunnel.nodes.kubelet.probes.targets import http_target, port_number

CONTAINER = {"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}


def test_a_port_may_be_named() -> None:
    assert port_number({"port": "web"}, CONTAINER) == 8080
    assert port_number({"port": 81}, CONTAINER) == 81
    with pytest.raises(ValueError, match="couldn't find port: nope"):
        port_number({"port": "nope"}, CONTAINER)


def test_what_is_told_names_the_address_that_the_api_shows() -> None:
    target = http_target({"port": "web", "path": "/z"}, CONTAINER, "10.42.0.7")

    assert target.url == "http://10.42.0.7:8080/z"
