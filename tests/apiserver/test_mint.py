from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.apiserver.api import Api, obj
from windtunnel.apiserver.inprocess import LocalClient
from windtunnel.apiserver.mint import Mint, live_mint, seeded_mint
from windtunnel.kernel import Chance

MINTS: dict[str, Callable[[], Mint]] = {
    "live": live_mint, "seeded": lambda: seeded_mint(Chance(7)),
}  # fmt: skip


@pytest.mark.parametrize("make", MINTS.values(), ids=MINTS.keys())
def test_uids_and_suffixes_look_like_the_real_ones(make: Callable[[], Mint]) -> None:
    mint = make()
    uids = [mint.uid() for _ in range(600)]
    suffixes = [mint.suffix() for _ in range(2000)]

    assert len(set(uids)) == 600
    shape = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert all(re.fullmatch(shape, uid) for uid in uids)
    assert len(set(suffixes)) > 1990
    assert all(re.fullmatch("[bcdfghjklmnpqrstvwxz2456789]{5}", each) for each in suffixes)


def test_one_more_name_changes_no_uid() -> None:
    one, other = seeded_mint(Chance(7)), seeded_mint(Chance(7))
    other.suffix()

    assert one.uid() == other.uid()


def run(seed: int) -> list[tuple[str, str, int, bytes]]:
    """Let a client and a part of ours work, and return all that is stored."""
    api = Api(mint=seeded_mint(Chance(seed)))
    ns = api.namespace()
    api.pod(ns)
    api.post(f"{ns}/pods", {**api.get(f"{ns}/pods/p"), "metadata": {"generateName": "q-"}})
    port = {"port": 80, "targetPort": 80}
    spec = {"type": "NodePort", "selector": {"a": "b"}, "ports": [port]}
    api.post(f"{ns}/services", obj("v1", "Service", "s", spec=spec))
    api.clock.move_to(api.clock.now() + 3.0)
    api.patch(f"{ns}/pods/p/status", {"status": {"phase": "Running"}})
    client = LocalClient(api.core, "system:part", "part")
    client.create("configmaps", {"metadata": {"generateName": "c-", "namespace": "ns"}})
    api.delete(f"{ns}/pods/p")
    return [
        (resource, str(version.key), version.revision, version.body)
        for resource in sorted(api.store.resources())
        for version in api.store.list(resource)
    ]


def test_the_same_requests_with_the_same_seed_store_the_same_bytes() -> None:
    assert run(1) == run(1)
    assert run(1) != run(2)
