"""Where volumes come from: one judgement for each source, shared by pods and persistent volumes.

Most sources only need some fields; those are a table. ``one_source`` walks the sources in the real
server's order and refuses a second one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

from windtunnel.kinds.pod.paths import no_backsteps
from windtunnel.kinds.rules.checks import each
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)

JudgeSource = Callable[[Tree, str], list[Violation]]
MORE_THAN_ONE: Final = "may not specify more than 1 volume type"
ISCSI_TOO_LONG: Final = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if"
    " iscsi.initiatorName is specified."
)
HOST_PATH_TYPES: Final = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate",
    "Socket",
)  # fmt: skip
_RESERVED: Final = (".kubernetes.io", ".k8s.io")
_PARTITION: Final = names.not_between(1, 255)
_is_iqn = re.compile(r"iqn\.\d{4}-\d{2}\.([a-zA-Z0-9-.]+)(:[^,;*&$|\s]+)").fullmatch
_is_eui = re.compile(r"eui.[a-zA-Z0-9]{16}").fullmatch
_is_naa = re.compile(r"naa.[a-zA-Z0-9]{32}").fullmatch


def _needs(*keys: str) -> JudgeSource:
    def judge(source: Tree, field: str) -> list[Violation]:
        return [required(f"{field}.{key}") for key in keys if not source.get(key)]

    return judge


def _reference(source: Tree, key: str, field: str, *parts: str) -> list[Violation]:
    reference = source.get(key)
    if reference is None:
        return []
    return [required(f"{field}.{key}.{part}") for part in parts if not reference.get(part)]


def host_path(source: Tree, field: str) -> list[Violation]:
    """Judge a folder or file of the node."""
    path = source.get("path", "")
    if not path:
        return [required(f"{field}.path")]
    found = no_backsteps(path, f"{field}.path")
    kind = source.get("type", "")
    if kind not in HOST_PATH_TYPES:
        found.append(not_supported(f"{field}.type", kind, list(HOST_PATH_TYPES)))
    return found


def git_repository(source: Tree, field: str) -> list[Violation]:
    """Judge a repository that is cloned into the pod."""
    found = _needs("repository")(source, field)
    directory = source.get("directory", "")
    if directory.startswith("/"):
        found.append(invalid(f"{field}.directory", directory, "must be a relative path"))
    return found + no_backsteps(directory, f"{field}.directory")


def _disk(key: str) -> JudgeSource:
    def judge(source: Tree, field: str) -> list[Violation]:
        found = _needs(key)(source, field)
        partition = source.get("partition", 0)
        if not 0 <= partition <= 255:
            found.append(invalid(f"{field}.partition", partition, _PARTITION))
        return found

    return judge


def nfs(source: Tree, field: str) -> list[Violation]:
    """Judge a share of an NFS server."""
    found = _needs("server", "path")(source, field)
    path = source.get("path", "")
    if not path.startswith("/"):
        found.append(invalid(f"{field}.path", path, "must be an absolute path"))
    return found


def _initiator(value: str, field: str, prefix_text: str) -> list[Violation]:
    if not value.startswith(("iqn", "eui", "naa")):
        return [invalid(field, value, prefix_text)]
    shapes = {"iqn": _is_iqn, "eui": _is_eui, "naa": _is_naa}
    return [] if shapes[value[:3]](value) else [invalid(field, value, "must be valid format")]


def _iscsi(source: Tree, field: str, prefix_text: str) -> list[Violation]:
    found = _needs("targetPortal")(source, field)
    if iqn := source.get("iqn"):
        found += _initiator(iqn, f"{field}.iqn", prefix_text)
    else:
        found.append(required(f"{field}.iqn"))
    lun = source.get("lun", 0)
    if not 0 <= lun <= 255:
        found.append(invalid(f"{field}.lun", lun, names.not_between(0, 255)))
    challenged = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    if challenged and source.get("secretRef") is None:
        found.append(required(f"{field}.secretRef"))
    name = source.get("initiatorName")
    if name is not None:
        found += _initiator(name, f"{field}.initiatorname", prefix_text)
    return found


def _pod_iscsi(source: Tree, field: str) -> list[Violation]:
    return _iscsi(source, field, "must be valid format starting with iqn, eui, or naa")


def _persistent_iscsi(source: Tree, field: str) -> list[Violation]:
    found = _iscsi(source, field, "must be valid format")
    return found + _reference(source, "secretRef", field, "name")


def _persistent_gluster(source: Tree, field: str) -> list[Violation]:
    found = _needs("endpoints", "path")(source, field)
    namespace = source.get("endpointsNamespace")
    where = f"{field}.endpointsNamespace"
    if namespace == "":
        text = "if the endpointnamespace is set, it must be a valid namespace name"
        found.append(invalid(where, namespace, text))
    elif namespace is not None:
        found += each(names.dns_label(namespace), where, namespace)
    return found


def _flocker(source: Tree, field: str) -> list[Violation]:
    name, uid = source.get("datasetName", ""), source.get("datasetUUID", "")
    found: list[Violation] = []
    if not name and not uid:
        found.append(required(field, "one of datasetName and datasetUUID is required"))
    if name and uid:
        text = "datasetName and datasetUUID can not be specified simultaneously"
        found.append(invalid(field, "resource", text))
    if "/" in name:
        found.append(invalid(f"{field}.datasetName", name, "must not contain '/'"))
    return found


def _quobyte(source: Tree, field: str) -> list[Violation]:
    text = "must be a host:port pair or multiple pairs separated by commas"
    registry = source.get("registry", "")
    found: list[Violation] = []
    if not registry:
        found.append(required(f"{field}.registry", text))
    elif len(source.get("tenant", "")) >= 65:
        why = "must be a UUID and may not exceed a length of 64 characters"
        found.append(required(f"{field}.tenant", why))
    else:
        for pair in registry.split(","):
            if pair.count(":") != 1 and not re.fullmatch(r"\[[^\]]*\]:[^:]*", pair):
                found.append(invalid(f"{field}.registry", registry, text))
    return found + _needs("volume")(source, field)


def _fibre_channel(source: Tree, field: str) -> list[Violation]:
    targets, wwids = source.get("targetWWNs") or [], source.get("wwids") or []
    where = f"{field}.targetWWNs"
    found: list[Violation] = []
    if not targets and not wwids:
        found.append(required(where, "must specify either targetWWNs or wwids, but not both"))
    if targets and wwids:
        text = "targetWWNs and wwids can not be specified simultaneously"
        found.append(invalid(where, targets, text))
    if targets:
        lun = source.get("lun")
        if lun is None:
            text = "lun is required if targetWWNs is specified"
            found.append(required(f"{field}.lun", text))
        elif not 0 <= lun <= 255:
            found.append(invalid(f"{field}.lun", lun, names.not_between(0, 255)))
    return found


def _flex(source: Tree, field: str) -> list[Violation]:
    found = _needs("driver")(source, field)
    for key in source.get("options") or ():
        if ("." + key.partition("/")[0].lower()).endswith(_RESERVED):
            text = "kubernetes.io and k8s.io namespaces are reserved"
            found.append(invalid(f"{field}.options[{key}]", key, text))
    return found


def _azure_disk(source: Tree, field: str) -> list[Violation]:
    found = _needs("diskName", "diskURI")(source, field)
    caching, kind, uri = source.get("cachingMode"), source.get("kind"), source.get("diskURI", "")
    if caching is not None and caching not in ("None", "ReadOnly", "ReadWrite"):
        allowed = ["None", "ReadOnly", "ReadWrite"]
        found.append(not_supported(f"{field}.cachingMode", caching, allowed))
    if kind is not None and kind not in ("Dedicated", "Managed", "Shared"):
        found.append(not_supported(f"{field}.kind", kind, ["Dedicated", "Managed", "Shared"]))
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        path = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute"
        found.append(not_supported(f"{field}.diskURI", uri, [path + "/disks/{disk-id}"]))
    if kind is not None and kind != "Managed" and not uri.startswith("https://"):
        address = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
        found.append(not_supported(f"{field}.diskURI", uri, [address]))
    return found


def _azure_file(source: Tree, field: str) -> list[Violation]:
    found = _needs("secretName", "shareName")(source, field)
    if source.get("secretNamespace") == "":
        found.append(required(f"{field}.secretNamespace"))
    return found


def _storage_os(*parts: str) -> JudgeSource:
    def judge(source: Tree, field: str) -> list[Violation]:
        found = _needs("volumeName")(source, field)
        for key in ("volumeName", "volumeNamespace"):
            if value := source.get(key):
                found += each(names.dns_label(value), f"{field}.{key}", value)
        return found + _reference(source, "secretRef", field, *parts)

    return judge


def _with_secret(*parts: str) -> JudgeSource:
    def judge(source: Tree, field: str) -> list[Violation]:
        found = _needs("volumeID")(source, field)
        return found + _reference(source, "secretRef", field, *parts)

    return judge


def csi_driver(name: str, field: str) -> list[Violation]:
    """Judge the name of a CSI driver."""
    if not name:
        return [required(field)]
    found = [too_long(field, 63)] if len(name.encode()) > 63 else []
    return found + each(names.dns_subdomain(name.lower()), field, name)


def _pod_csi(source: Tree, field: str) -> list[Violation]:
    found = csi_driver(source.get("driver", ""), f"{field}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is not None:
        name = secret.get("name", "")
        if not name:
            found.append(required(f"{field}.nodePublishSecretRef.name"))
        else:
            found += each(names.dns_subdomain(name), f"{field}.name", name)
    return found


def _persistent_csi(source: Tree, field: str) -> list[Violation]:
    found = csi_driver(source.get("driver", ""), f"{field}.driver")
    found += _needs("volumeHandle")(source, field)
    for key in (
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ):
        reference = source.get(key)
        if reference is None:
            continue
        for part, rule in (("name", names.dns_subdomain), ("namespace", names.dns_label)):
            value, where = reference.get(part, ""), f"{field}.{key}.{part}"
            found += each(rule(value), where, value) if value else [required(where)]
    return found


def local(source: Tree, field: str) -> list[Violation]:
    """Judge a disk of one node."""
    path = source.get("path", "")
    return no_backsteps(path, f"{field}.path") if path else [required(f"{field}.path")]


_GCE: Final = ("gcePersistentDisk", "gcePersistentDisk", "persistentDisk", _disk("pdName"))
_AWS: Final = (
    "awsElasticBlockStore", "awsElasticBlockStore", "awsElasticBlockStore", _disk("volumeID"),
)  # fmt: skip
_SCALE_IO: Final = ("scaleIO", "scaleIO", "scaleIO", _needs("gateway", "system", "volumeName"))

Source = tuple[str, str, str, JudgeSource]
"""(key, what a second one is called, what the first one is called, judge)."""


def _same(key: str, judge: JudgeSource) -> Source:
    return (key, key, key, judge)


STORAGE_OF_PODS: Final[tuple[Source, ...]] = (
    _same("hostPath", host_path),
    _same("gitRepo", git_repository),
    _GCE,
    _AWS,
    _same("nfs", nfs),
    _same("iscsi", _pod_iscsi),
    _same("glusterfs", _needs("endpoints", "path")),
    _same("flocker", _flocker),
    _same("persistentVolumeClaim", _needs("claimName")),
    _same("rbd", _needs("monitors", "image")),
    _same("cinder", _with_secret("name")),
    ("cephfs", "cephFS", "cephfs", _needs("monitors")),
    _same("quobyte", _quobyte),
    _same("fc", _fibre_channel),
    _same("flexVolume", _flex),
    _same("azureFile", _needs("secretName", "shareName")),
    _same("vsphereVolume", _needs("volumePath")),
    _same("photonPersistentDisk", _needs("pdID")),
    _same("portworxVolume", _needs("volumeID")),
    _same("azureDisk", _azure_disk),
    _same("storageos", _storage_os("name")),
    _SCALE_IO,
    _same("csi", _pod_csi),
)
"""Sources of pods that are storage; what is made of API objects stands in ``pod_volumes``."""

STORAGE_OF_VOLUMES: Final[tuple[Source, ...]] = (
    _same("hostPath", host_path),
    _GCE,
    _AWS,
    _same("glusterfs", _persistent_gluster),
    _same("flocker", _flocker),
    _same("nfs", nfs),
    _same("rbd", _needs("monitors", "image")),
    _same("quobyte", _quobyte),
    ("cephfs", "cephFS", "cephfs", _needs("monitors")),
    _same("iscsi", _persistent_iscsi),
    _same("cinder", _with_secret("name", "namespace")),
    _same("fc", _fibre_channel),
    _same("flexVolume", _flex),
    _same("azureFile", _azure_file),
    _same("vsphereVolume", _needs("volumePath")),
    _same("photonPersistentDisk", _needs("pdID")),
    _same("portworxVolume", _needs("volumeID")),
    _same("azureDisk", _azure_disk),
    _SCALE_IO,
    _same("local", local),
    _same("storageos", _storage_os("name", "namespace")),
    _same("csi", _persistent_csi),
)
"""Sources of persistent volumes."""


@cache
def _by_key(sources: tuple[Source, ...]) -> dict[str, Source]:
    return {source[0]: source for source in sources}


def _named(keys: Iterable[str], sources: tuple[Source, ...]) -> list[Source]:
    """Return the sources that a volume with few keys has: nearly all have a name and a source."""
    known = _by_key(sources)
    return [known[key] for key in keys if key in known]


def one_source(volume: Tree, field: str, sources: tuple[Source, ...]) -> list[Violation]:
    """Judge that a volume has exactly one source, and that source."""
    found: list[Violation] = []
    seen = False
    named = _named(volume, sources)
    for key, second, first, judge in named if len(named) < 2 else sources:
        source: Any = volume.get(key)
        if source is None:
            continue
        if seen:
            found.append(forbidden(f"{field}.{second}", MORE_THAN_ONE))
        else:
            seen = True
            found += judge(source, f"{field}.{first}")
    if not seen:
        found.append(required(field, "must specify a volume type"))
    return found


def iscsi_name_is_long(volume: Tree, name: str) -> bool:
    """Say whether a volume's name and its iSCSI portal are together longer than 64 bytes."""
    portal = dig(volume, "iscsi", "targetPortal") or ""
    initiator = dig(volume, "iscsi", "initiatorName")
    return initiator is not None and len(f"{name}:{portal}".encode()) > 64
