"""Hand-written defaults of pod specs: those of pods and of pod templates.

The structural round trip has been done before (zero values are gone, what Go always writes is
there), so a missing key means that nothing was said. Source: kube-apiserver v1.36.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from windtunnel.kinds.pod.requests import container_amounts
from windtunnel.kinds.rules.resource_names import is_huge_pages, is_pod_level, may_overcommit
from windtunnel.machinery.quantity import parse
from windtunnel.machinery.tree import Tree

_FILE_MODE: Final = 0o644
_GRACE_SECONDS: Final = 30
_TOKEN_SECONDS: Final = 3600
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_MODED: Final = ("configMap", "secret", "downwardAPI", "projected")
VOLUME_SOURCES: Final = frozenset({
    "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret",
    "nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs",
    "quobyte", "downwardAPI", "fc", "flexVolume", "configMap", "azureFile", "vsphereVolume",
    "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO",
    "csi", "ephemeral", "image",
})  # fmt: skip


@lru_cache(maxsize=65536)
def _rounded(value: str | int | float) -> str:
    """Return a quantity's canonical text, rounded up to thousandths."""
    return str(parse(value).in_milli())


def default_resource_list(listed: Tree | None) -> None:
    """Round the quantities of a resource list up to thousandths, in place."""
    if listed:
        for name, value in listed.items():
            listed[name] = _rounded(value)


def pull_policy(image: str) -> str:
    """Return Always for an image whose tag is or means ``latest``, else IfNotPresent."""
    name, at, _ = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    if not tag and not at:
        tag = "latest"
    return "Always" if tag == "latest" else "IfNotPresent"


def default_pod_spec(spec: Tree) -> None:
    """Set what every pod spec gets, in a pod or in a template."""
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", _GRACE_SECONDS)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    if service_account := spec.get("serviceAccountName"):
        spec["serviceAccount"] = service_account
    elif deprecated := spec.get("serviceAccount"):
        spec["serviceAccountName"] = deprecated
    for container in spec.get("containers") or ():
        _container(container)
    for key in ("initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)
    default_resource_list(spec.get("overhead"))
    _resources(spec.get("resources"))


def _resources(resources: Tree | None) -> None:
    if resources:
        default_resource_list(resources.get("limits"))
        default_resource_list(resources.get("requests"))


def _container(container: Tree) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or ():
        if source := variable.get("valueFrom"):
            if "fieldRef" in source:
                source["fieldRef"].setdefault("apiVersion", "v1")
            if "fileKeyRef" in source:
                source["fileKeyRef"].setdefault("optional", False)
    for key in _PROBES:
        if (probe := container.get(key)) is not None:
            _probe(probe)
    lifecycle = container.get("lifecycle")
    if lifecycle:
        for hook in ("postStart", "preStop"):
            _action(lifecycle.get(hook))
    _resources(container.get("resources"))
    security = container.get("securityContext")
    if security and "procMount" in security and not security["procMount"]:
        security["procMount"] = "Default"


def _probe(probe: Tree) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    _action(probe)


def _action(action: Tree | None) -> None:
    if not action:
        return
    if (http := action.get("httpGet")) is not None:
        http.setdefault("path", "/")
        http.setdefault("scheme", "HTTP")
    if (grpc := action.get("grpc")) is not None:
        grpc["service"] = grpc.get("service") or ""


def _volume(volume: Tree) -> None:
    if not volume.keys() & VOLUME_SOURCES:
        volume["emptyDir"] = {}
        return
    for key in _MODED:
        if (source := volume.get(key)) is not None:
            source.setdefault("defaultMode", _FILE_MODE)
    for each in (volume.get("downwardAPI") or {}).get("items") or ():
        _field_reference(each)
    for source in (volume.get("projected") or {}).get("sources") or ():
        for each in (source.get("downwardAPI") or {}).get("items") or ():
            _field_reference(each)
        if (token := source.get("serviceAccountToken")) is not None:
            token.setdefault("expirationSeconds", _TOKEN_SECONDS)
    if (image := volume.get("image")) is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = pull_policy(image.get("reference", ""))
    _storage(volume)


def _storage(volume: Tree) -> None:
    if (path := volume.get("hostPath")) is not None:
        path.setdefault("type", "")
    if (iscsi := volume.get("iscsi")) is not None:
        iscsi.setdefault("iscsiInterface", "default")
    if (rbd := volume.get("rbd")) is not None:
        rbd.setdefault("pool", "rbd")
        rbd.setdefault("user", "admin")
        rbd.setdefault("keyring", "/etc/ceph/keyring")
    if (disk := volume.get("azureDisk")) is not None:
        disk.setdefault("cachingMode", "ReadWrite")
        disk.setdefault("kind", "Shared")
        disk.setdefault("fsType", "ext4")
        disk.setdefault("readOnly", False)
    if (scale := volume.get("scaleIO")) is not None:
        scale.setdefault("storageMode", "ThinProvisioned")
        scale.setdefault("fsType", "xfs")
    claim = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if claim:
        default_claim_spec(claim.setdefault("spec", {}))


def _field_reference(item: Tree) -> None:
    if (reference := item.get("fieldRef")) is not None:
        reference.setdefault("apiVersion", "v1")


def default_claim_spec(spec: Tree) -> None:
    """Set what every claim for a volume gets."""
    spec.setdefault("volumeMode", "Filesystem")
    _resources(spec.get("resources"))


def default_whole_pod(spec: Tree) -> None:
    """Set what only pods get, never templates: requests from limits, links, host ports."""
    for key in ("containers", "initContainers"):
        for container in spec.get(key) or ():
            resources = container.get("resources")
            limits = resources.get("limits") if resources else None
            if resources is not None and limits:
                requests = resources.setdefault("requests", {})
                for name, value in limits.items():
                    requests.setdefault(name, value)
    if spec.get("resources"):
        _pod_level(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for key in ("containers", "initContainers"):
            for container in spec.get(key) or ():
                for port in container.get("ports") or ():
                    port.setdefault("hostPort", port.get("containerPort"))


def _pod_level(spec: Tree) -> None:
    resources = spec["resources"]
    requests: dict[str, Any] = resources.get("requests") or {}
    if resources.get("limits") or requests:
        limits = resources.get("limits") or {}
        for name, quantity in container_amounts(spec, "limits").items():
            if is_huge_pages(name) and name not in requests:
                limits.setdefault(name, str(quantity))
        if limits:
            resources["limits"] = limits
    if not resources.get("limits"):
        return
    for name, quantity in container_amounts(spec, "requests").items():
        if is_pod_level(name) and may_overcommit(name):
            requests.setdefault(name, str(quantity))
    for name, value in resources["limits"].items():
        if is_pod_level(name):
            requests.setdefault(name, value)
    if requests:
        resources["requests"] = requests
