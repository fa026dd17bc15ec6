"""The volumes of a pod, from its spec to the mounts of its containers."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_IFDIR

import pytest

from windtunnel.client.http import HttpClient
from windtunnel.kernel import VirtualClock
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Key, Tree
from windtunnel.nodes.kubelet.runtime.protocol import Mount
from windtunnel.nodes.kubelet.volumes.failures import MountFailed, VolumeMissing
from windtunnel.nodes.kubelet.volumes.places import HostPlaces
from windtunnel.nodes.kubelet.volumes.sources import ApiSources
from windtunnel.nodes.kubelet.volumes.tokens import renewal
from windtunnel.nodes.kubelet.volumes.volumes import PodVolumes, clear_memory

START = 1_769_846_400.0


@dataclass
class Paper:
    """Objects on paper, and tokens that count up."""

    clock: VirtualClock
    config_maps: dict[str, dict[str, str]] = field(default_factory=dict)
    claims: dict[str, Tree] = field(default_factory=dict)
    tokens: list[Tree] = field(default_factory=list)

    def config_map(self, key: Key) -> Tree | None:
        content = self.config_maps.get(key.name)
        return None if content is None else {"data": content}

    def secret(self, key: Key) -> Tree | None:
        return {"data": {"k": base64.b64encode(b"v").decode()}} if key.name == "s" else None

    def claim(self, key: Key) -> Tree | None:
        return self.claims.get(key.name)

    def token(self, account: Key, spec: Tree) -> Tree:
        if account.name == "refused":
            raise VolumeMissing('failed to fetch token: serviceaccounts "refused" not found')
        self.tokens.append(spec)
        expires = self.clock.now() + spec["expirationSeconds"]
        return {"token": f"t{len(self.tokens)}", "expirationTimestamp": time_text(expires)}


@pytest.fixture
def paper() -> Paper:
    return Paper(VirtualClock(START))


@pytest.fixture
def volumes(tmp_path: Path, paper: Paper) -> PodVolumes:
    root = tmp_path / "node/var/lib/kubelet"
    places = HostPlaces(tmp_path / "node")
    memory = tmp_path / "shm"
    memory.mkdir()
    return PodVolumes(root, paper, places, paper.clock, memory=memory)


def pod(*volumes: Tree, mounts: tuple[Tree, ...] = (), **spec: object) -> Tree:
    seen = mounts or [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
    container = {"name": "main", "volumeMounts": list(seen), "env": [{"name": "A", "value": "x"}]}
    return {
        "metadata": {"name": "a", "namespace": "default", "uid": "u", "labels": {"l": "1"}},
        "spec": {"volumes": list(volumes), "containers": [container], **spec},
    }


def seen(volumes: PodVolumes, tree: Tree) -> list[Mount]:
    volumes.mount(tree)
    return list(volumes.mounts(tree, tree["spec"]["containers"][0]))


NAMESPACE = {"path": "ns", "fieldRef": {"fieldPath": "metadata.namespace"}}
TOKEN = {
    "name": "access",
    "projected": {
        "defaultMode": 0o644,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "ca", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [NAMESPACE]}},
        ],
    },
}


def test_the_access_volume_of_a_service_account(volumes: PodVolumes, paper: Paper) -> None:
    paper.config_maps["ca"] = {"ca.crt": "PEM"}
    tree = pod(TOKEN, mounts=({"name": "access", "mountPath": "/var/run/secrets"},))
    (mount,) = seen(volumes, tree)

    assert mount.read_only
    there = Path(mount.host_path)
    assert [(there / name).read_text() for name in ("token", "ca.crt", "ns")] == [
        *("t1", "PEM", "default")
    ]
    assert paper.tokens == [
        {
            "audiences": [],
            "expirationSeconds": 3607,
            "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u"},
        }
    ]


def test_a_token_is_renewed_before_it_ends(volumes: PodVolumes, paper: Paper) -> None:
    paper.config_maps["ca"] = {"ca.crt": "PEM"}
    tree = pod(TOKEN, mounts=({"name": "access", "mountPath": "/s"},))
    (mount,) = seen(volumes, tree)
    paper.clock.move_to(START + 2000)
    volumes.update(tree)
    assert (Path(mount.host_path) / "token").read_text() == "t1"
    paper.clock.move_to(START + 3000)
    volumes.update(tree)

    assert (Path(mount.host_path) / "token").read_text() == "t2"
    volumes.unmount("u")
    volumes.mount(tree)
    assert len(paper.tokens) == 3


RENEWALS = {3600: 2880, 10 * 86400: 86400}


@pytest.mark.parametrize(("life", "want"), RENEWALS.items())
def test_when_a_token_is_renewed(life: float, want: float) -> None:
    assert renewal(0, life) == want


def test_what_changes_is_seen_at_once_and_what_vanishes_stays(
    volumes: PodVolumes, paper: Paper
) -> None:
    paper.config_maps["m"] = {"k": "1"}
    source = {"name": "v", "configMap": {"name": "m"}}
    tree = pod(source, mounts=({"name": "v", "mountPath": "/v"},))
    (mount,) = seen(volumes, tree)
    paper.config_maps["m"] = {"k": "2"}
    volumes.update(tree)
    assert (Path(mount.host_path) / "k").read_text() == "2"
    del paper.config_maps["m"]
    with pytest.raises(MountFailed):
        volumes.update(tree)

    assert (Path(mount.host_path) / "k").read_text() == "2"


FAILURES = {
    "a ConfigMap that is not there": (
        {"configMap": {"name": "novol"}},
        'configmap "novol" not found',
    ),
    "a Secret that is not there": ({"secret": {"secretName": "no"}}, 'secret "no" not found'),
    "two of a projected volume": (
        {"projected": {"sources": [{"secret": {"name": "a"}}, {"configMap": {"name": "b"}}]}},
        '[secret "a" not found, configmap "b" not found]',
    ),
    "a hostPath of the wrong type": (
        {"hostPath": {"path": "/var/lib/x", "type": "File"}},
        "hostPath type check failed: /var/lib/x is not a file",
    ),
    "a kind that nodes like ours do not have": (
        {"nfs": {"server": "x", "path": "/"}},
        "this node has no volumes of kind nfs",
    ),
}


@pytest.mark.parametrize(("source", "words"), FAILURES.values(), ids=FAILURES)
def test_what_cannot_be_made_is_told_for_each_volume(
    volumes: PodVolumes, source: Tree, words: str
) -> None:
    with pytest.raises(MountFailed) as failed:
        volumes.mount(pod({"name": "e", "emptyDir": {}}, {"name": "v", **source}))

    assert failed.value.messages == (f'MountVolume.SetUp failed for volume "v" : {words}',)


CLAIMS: dict[str, tuple[Tree | None, str]] = {
    "that is not there": (
        None,
        'failed to fetch PVC from API server: persistentvolumeclaims "c" not found',
    ),
    "that has nothing yet": ({"status": {"phase": "Pending"}}, "PVC is not bound"),
    "that has what no node like ours gives": (
        {"spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}},
        "this node has no storage for claims",
    ),
}


@pytest.mark.parametrize(("claim", "words"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim(volumes: PodVolumes, paper: Paper, claim: Tree | None, words: str) -> None:
    if claim is not None:
        paper.claims["c"] = claim
    source = {"persistentVolumeClaim": {"claimName": "c"}}
    with pytest.raises(MountFailed) as failed:
        volumes.mount(pod({"name": "w", **source}, {"name": "v", **source}))

    why = f"error processing PVC default/c: {words}"
    assert failed.value.messages == (
        "Unable to attach or mount volumes: unmounted volumes=[v w], unattached volumes=[], "
        f"failed to process volumes=[v w]: {why}; {why}",
    )


def test_a_volume_that_no_container_sees_is_not_made(volumes: PodVolumes) -> None:
    mounts = ({"name": "e", "mountPath": "/e"},)
    unseen = {"name": "v", "configMap": {"name": "novol"}}
    volumes.mount(pod({"name": "e", "emptyDir": {}}, unseen, mounts=mounts))


def test_a_token_that_is_refused(volumes: PodVolumes, paper: Paper) -> None:
    paper.config_maps["ca"] = {"ca.crt": "PEM"}
    with pytest.raises(MountFailed, match='failed to fetch token: serviceaccounts "refused" not f'):
        volumes.mount(pod(TOKEN, serviceAccountName="refused"))


def test_empty_folders_on_disk_and_in_memory(volumes: PodVolumes, tmp_path: Path) -> None:
    mounts = ({"name": "e", "mountPath": "/e"}, {"name": "m", "mountPath": "/m", "readOnly": True})
    sources = ({"name": "e", "emptyDir": {}}, {"name": "m", "emptyDir": {"medium": "Memory"}})
    disk, memory = seen(volumes, pod(*sources, mounts=mounts))

    assert disk.host_path.endswith("pods/u/volumes/kubernetes.io~empty-dir/e")
    assert memory.host_path.startswith(str(tmp_path / "shm"))
    assert (disk.read_only, memory.read_only) == (False, True)
    assert Path(memory.host_path).stat().st_mode & 0o7777 == 0o1777
    volumes.unmount("u")
    assert not Path(disk.host_path).exists()
    assert not Path(memory.host_path).exists()


def test_what_a_killed_node_left_is_removed(volumes: PodVolumes) -> None:
    mounts = ({"name": "e", "mountPath": "/e"},)
    (mount,) = seen(volumes, pod({"name": "e", "emptyDir": {"medium": "Memory"}}, mounts=mounts))
    volumes.unmount_others(["u"])
    assert Path(mount.host_path).is_dir()
    volumes.unmount_others([])

    assert not Path(mount.host_path).exists()


def test_a_node_that_ends_leaves_nothing_in_memory(volumes: PodVolumes, tmp_path: Path) -> None:
    mounts = ({"name": "e", "mountPath": "/e"},)
    seen(volumes, pod({"name": "e", "emptyDir": {"medium": "Memory"}}, mounts=mounts))
    clear_memory(tmp_path / "node/var/lib/kubelet", tmp_path / "shm")

    assert list((tmp_path / "shm").iterdir()) == []


def test_the_node_s_paths_are_its_root_s(volumes: PodVolumes, tmp_path: Path) -> None:
    source = {"name": "h", "hostPath": {"path": "/var/lib/runai", "type": "DirectoryOrCreate"}}
    (mount,) = seen(volumes, pod(source, mounts=({"name": "h", "mountPath": "/h"},)))

    assert mount == Mount(host_path=f"{tmp_path}/node/var/lib/runai", container_path="/h")
    assert Path(mount.host_path).is_dir()


def test_mounts_of_device_plugins_are_of_the_node_s_paths(
    volumes: PodVolumes, tmp_path: Path
) -> None:
    own = Mount(host_path="/var/lib/runai/bin/nvidia-smi", container_path="/bin/nvidia-smi")
    others = Mount(host_path="/usr/lib/x", container_path="/x", read_only=True)

    assert volumes.of_node([own, others]) == (
        Mount(
            host_path=f"{tmp_path}/node/var/lib/runai/bin/nvidia-smi",
            container_path="/bin/nvidia-smi",
        ),
        others,
    )


SUB_PATHS = {
    "a folder that is made": ({"subPath": "a/b"}, "a/b"),
    "with a variable": ({"subPathExpr": "$(A)-1"}, "x-1"),
}


@pytest.mark.parametrize(("written", "want"), SUB_PATHS.values(), ids=SUB_PATHS)
def test_parts_of_a_volume(volumes: PodVolumes, written: Tree, want: str) -> None:
    mounts = ({"name": "e", "mountPath": "/e", **written},)
    (mount,) = seen(volumes, pod({"name": "e", "emptyDir": {}}, mounts=mounts))

    assert mount.host_path.endswith(f"/e/{want}")
    assert Path(mount.host_path).stat().st_mode == S_IFDIR | 0o777


REFUSED = {
    "a way out": ({"subPath": "../x"}, 'subPath for volumeMount "e" of container "main"'),
    "an unknown variable": ({"subPathExpr": "$(NO)"}, "missing value for NO"),
}


@pytest.mark.parametrize(("written", "words"), REFUSED.values(), ids=REFUSED)
def test_parts_that_are_none(volumes: PodVolumes, written: Tree, words: str) -> None:
    mounts = ({"name": "e", "mountPath": "/e", **written},)
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        seen(volumes, pod({"name": "e", "emptyDir": {}}, mounts=mounts))


def test_a_file_of_a_config_map_as_a_part(volumes: PodVolumes, paper: Paper) -> None:
    paper.config_maps["m"] = {"k": "1"}
    mounts = ({"name": "v", "mountPath": "/etc/k", "subPath": "k"},)
    (mount,) = seen(volumes, pod({"name": "v", "configMap": {"name": "m"}}, mounts=mounts))

    assert Path(mount.host_path).read_text() == "1"
    assert not Path(mount.host_path).is_symlink()


@pytest.mark.real
def test_objects_come_from_the_api(http_client: HttpClient) -> None:
    sources = ApiSources(http_client)
    account = Key("default", "default")
    named = {"name": account.name, "namespace": account.namespace}
    tree = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": named}
    http_client.apply("serviceaccounts", tree)

    assert sources.config_map(Key("default", "no")) is None
    assert sources.secret(Key("default", "no")) is None
    assert sources.token(account, {"expirationSeconds": 3600})["token"].count(".") == 2
    with pytest.raises(VolumeMissing, match='failed to fetch token: serviceaccounts "no" not f'):
        sources.token(Key("default", "no"), {})
