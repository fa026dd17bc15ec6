"""What the files of volumes hold, as tables."""

from __future__ import annotations

import base64

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.volumes.failures import VolumeMissing, setup_failed, together
from windtunnel.nodes.kubelet.volumes.payload import (
    PlannedFile,
    config_map_files,
    downward_files,
    secret_files,
)

MAP: Tree = {"data": {"b": "two", "a": "one"}, "binaryData": {"c": "AAE="}}
SECRET: Tree = {"data": {"k": base64.b64encode(b"v").decode()}}

CHOSEN = {
    "all keys, in order": (
        {},
        {"a": (b"one", 0o644), "b": (b"two", 0o644), "c": (b"\0\1", 0o644)},
    ),
    "some keys, at paths and with modes of their own": (
        {
            "defaultMode": 0o400,
            "items": [{"key": "a", "path": "x/y"}, {"key": "b", "path": "z", "mode": 0o600}],
        },
        {"x/y": (b"one", 0o400), "z": (b"two", 0o600)},
    ),
    "an optional key that is not there is left out": (
        {"optional": True, "items": [{"key": "a", "path": "a"}, {"key": "no", "path": "no"}]},
        {"a": (b"one", 0o644)},
    ),
}


@pytest.mark.parametrize(("source", "want"), CHOSEN.values(), ids=CHOSEN)
def test_files_of_a_config_map(source: Tree, want: dict[str, tuple[bytes, int]]) -> None:
    assert config_map_files(source, "m", MAP) == {
        path: PlannedFile(*file) for path, file in want.items()
    }


MISSING = {
    "a ConfigMap": (
        lambda: config_map_files({}, "novol", None),
        'MountVolume.SetUp failed for volume "v" : configmap "novol" not found',
    ),
    "its key": (
        lambda: config_map_files({"items": [{"key": "no", "path": "p"}]}, "m", MAP),
        'MountVolume.SetUp failed for volume "v" : '
        "configmap references non-existent config key: no",
    ),
    "a Secret": (
        lambda: secret_files({}, "s", None),
        'MountVolume.SetUp failed for volume "v" : secret "s" not found',
    ),
    "a Secret's key": (
        lambda: secret_files({"items": [{"key": "no", "path": "p"}]}, "s", SECRET),
        'MountVolume.SetUp failed for volume "v" : references non-existent secret key: no',
    ),
}


@pytest.mark.parametrize(("make", "words"), MISSING.values(), ids=MISSING)
def test_what_is_missing_is_told(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(VolumeMissing) as failed:
        make()

    assert setup_failed("v", failed.value) == words


def test_what_is_optional_may_be_missing() -> None:
    assert config_map_files({"optional": True}, "m", None) == {}
    assert secret_files({"optional": True}, "s", None) == {}


def test_files_of_a_secret() -> None:
    assert secret_files({}, "s", SECRET, 0o440) == {"k": PlannedFile(b"v", 0o440)}


def test_files_of_a_pod_s_own_fields() -> None:
    items = [
        {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}},
        {"path": "cpu", "resourceFieldRef": {"resource": "limits.cpu"}, "mode": 0o600},
    ]
    files = downward_files({"items": items}, lambda path: f"<{path}>", lambda _: "2")

    assert files == {
        "name": PlannedFile(b"<metadata.name>", 0o644),
        "cpu": PlannedFile(b"2", 0o600),
    }


def test_several_failures_are_one() -> None:
    assert str(together(["one"])) == "one"
    assert str(together(["one", "two"])) == "[one, two]"
