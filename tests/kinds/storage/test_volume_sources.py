from __future__ import annotations

import pytest

from windtunnel.kinds.storage.volume_sources import (
    STORAGE_OF_PODS,
    STORAGE_OF_VOLUMES,
    iscsi_name_is_long,
    one_source,
)
from windtunnel.machinery.tree import Tree

VOLUMES: dict[str, tuple[Tree, list[str]]] = {
    "a folder of the node": ({"hostPath": {"path": "/x", "type": ""}}, []),
    "nothing": ({"name": "v"}, ["f: Required value: must specify a volume type"]),
    "two sources": (
        {"nfs": {"server": "s", "path": "/"}, "hostPath": {"path": "/x"}},
        ["f.nfs: Forbidden: may not specify more than 1 volume type"],
    ),
    "a disk without a name": (
        {"gcePersistentDisk": {"partition": 300}},
        [
            "f.persistentDisk.pdName: Required value",
            "f.persistentDisk.partition: Invalid value: 300: must be between 1 and 255, inclusive",
        ],
    ),
}


@pytest.mark.parametrize(("volume", "want"), VOLUMES.values(), ids=VOLUMES)
def test_a_volume_has_exactly_one_sound_source(volume: Tree, want: list[str]) -> None:
    assert [str(each) for each in one_source(volume, "f", STORAGE_OF_PODS)] == want


def test_a_persistent_volume_names_the_namespace_of_its_secret() -> None:
    cinder = {"cinder": {"volumeID": "x", "secretRef": {"name": "s"}}}

    assert one_source(cinder, "spec", STORAGE_OF_PODS) == []
    (missing,) = one_source(cinder, "spec", STORAGE_OF_VOLUMES)
    assert missing.field == "spec.cinder.secretRef.namespace"


def test_a_long_portal_leaves_no_room_for_an_initiator() -> None:
    volume = {"iscsi": {"targetPortal": "p" * 60, "initiatorName": "iqn"}}

    assert iscsi_name_is_long(volume, "volume")
    assert not iscsi_name_is_long({"iscsi": {"targetPortal": "p" * 60}}, "volume")
