"""A whole cluster is a value: played in virtual time, no server, the same for the same seed."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from windtunnel.assembly.parts import PartSettings
from windtunnel.assembly.virtual import HOST, START, Virtual
from windtunnel.kinds.served.registry import builtin_kinds
from windtunnel.machinery.errors import Forbidden
from windtunnel.nodes import PoolOrder

PODS = 1000


def fill(seed: int, count: int, settings: PartSettings | None = None) -> Virtual:
    """A fleet that suffices, and that many pods of one GPU sent to it; a minute passes."""
    pool = PoolOrder(name="h100", count=count // 8, gpus=8)
    virtual = Virtual(seed, settings, pools=[pool])
    user = virtual.client("user")
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    for _ in range(count):
        spec = {"containers": [{"name": "c", "image": "x", "resources": limits}]}
        metadata = {"generateName": "work-", "namespace": "default"}
        user.create("pods", {"metadata": metadata, "spec": spec})
    virtual.run(60)
    return virtual


def test_a_thousand_pods_are_scheduled_and_run() -> None:
    virtual = fill(0, PODS)

    pods = virtual.client("user").list("pods")
    assert len(pods) == PODS
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert len({pod["status"]["podIP"] for pod in pods}) == PODS
    on: dict[str, int] = {}
    for pod in pods:
        on[pod["spec"]["nodeName"]] = on.get(pod["spec"]["nodeName"], 0) + 1
    assert set(on.values()) == {8}
    assert virtual.failures == []


def everything(virtual: Virtual) -> list[tuple[str, bytes]]:
    resources = sorted({kind.resource for kind in builtin_kinds()})
    return [
        (resource, version.body)
        for resource in resources
        for version in virtual.store.list(resource)
    ]


def test_the_same_seed_makes_the_same_bytes() -> None:
    one, same, other = (everything(fill(seed, 40)) for seed in (7, 7, 8))

    assert one == same
    assert one != other


def test_a_pod_can_be_created_before_time_passes() -> None:
    virtual = fill(0, 8)

    pods = virtual.client("user").list("pods")
    assert {pod["spec"]["serviceAccountName"] for pod in pods} == {"default"}
    assert virtual.clock.now() == START + 60


def test_settings_of_ones_own_do_not_bring_in_the_machine() -> None:
    given, none = fill(7, 8, PartSettings()), fill(7, 8)
    named = fill(7, 8, PartSettings(host="mine"))

    assert everything(given) == everything(none)
    for virtual, host in ((given, HOST), (named, "mine")):
        events = virtual.client("user").list("events")
        instances = {
            event["reportingInstance"] for event in events if event["reason"] == "Scheduled"
        }
        assert instances == {f"default-scheduler-{host}"}


def test_no_server_is_imported() -> None:
    heavy = ("asyncio", "uvicorn", "uvloop", "sqlite3", "windtunnel.client.http")
    code = (
        "import sys; import windtunnel.assembly.virtual;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


quantities = st.one_of(
    st.from_regex(
        r"[0-9]{1,25}(\.[0-9]{0,12})?(|[munkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,3})", fullmatch=True
    ),
    st.sampled_from(["9223372036854775807", "9223372036854775808", "1e30", "1e1000", "0", "8Ei"]),
)
resource_lists = st.dictionaries(
    st.sampled_from(["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi"]),
    quantities,
)


@settings(max_examples=20, deadline=None)
@given(resource_lists, st.lists(resource_lists, min_size=1, max_size=3), resource_lists)
def test_no_quantity_stops_a_cluster(
    node: dict[str, str], wanted: list[dict[str, str]], hard: dict[str, str]
) -> None:
    virtual = Virtual()
    user = virtual.client("user")
    had = {"pods": "110", **node}
    note = {"kwok.x-k8s.io/node": "fake"}
    metadata = {"name": "a", "annotations": note, "labels": {"type": "kwok"}}
    user.create("nodes", {"metadata": metadata, "status": {"capacity": had, "allocatable": had}})
    counted = {f"requests.{name}": value for name, value in hard.items()}
    quota = {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": counted}}
    user.create("resourcequotas", quota)
    for pinned in ({}, {"nodeName": "a"}, {}):
        containers = [
            {"name": f"c{place}", "image": "x", "resources": {"limits": each, "requests": each}}
            for place, each in enumerate(wanted)
        ]
        spec = {"containers": containers, **pinned}
        with suppress(Forbidden):  # the quota may have no room
            metadata = {"generateName": "p-", "namespace": "default"}
            user.create("pods", {"metadata": metadata, "spec": spec})
    virtual.run(20)

    assert virtual.failures == []
