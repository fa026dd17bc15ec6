"""Names of services in hosts files."""

from __future__ import annotations

from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.kubelet.service_names import Named, headless_names, host_lines

SLICE: Tree = {
    "endpoints": [
        {"addresses": ["10.42.0.5"], "hostname": "web-0", "conditions": {"ready": True}},
        {"addresses": ["10.42.0.6"], "conditions": {}},
        {"addresses": ["10.42.0.7"], "hostname": "web-2", "conditions": {"ready": False}},
    ]
}


def test_ready_endpoints_have_the_name_of_the_service_and_their_own() -> None:
    assert headless_names(Key("d", "web"), [SLICE, {"endpoints": None}]) == (
        Named("d", "web", "127.42.0.5"),
        Named("d", "web", "127.42.0.6"),
        Named("d", "web-0.web", "127.42.0.5"),
    )


def test_short_names_hold_in_their_own_namespace_only() -> None:
    names = [Named("d", "web-0.web", "127.42.0.5"), Named("other", "web", "127.96.0.9")]
    full = "127.96.0.9\tweb.other web.other.svc web.other.svc.cluster.local"

    assert host_lines(names, "d") == [
        "127.42.0.5\tweb-0.web.d web-0.web.d.svc web-0.web.d.svc.cluster.local web-0.web",
        full,
    ]
    assert host_lines(names, "other")[1] == f"{full} web"
