"""Pod security levels of a namespace: enforced on pods, warned of on what makes pods.

``privileged`` passes everything and is the default. Source: Pod Security Standards, v1.36.
"""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.admission.pod_security_checks import violations
from windtunnel.machinery.admission import Act, Petition
from windtunnel.machinery.tree import Key, Tree, dig
from windtunnel.store import Store

_PREFIX: Final = "pod-security.kubernetes.io/"
_TEMPLATES: Final = {
    "deployments.apps": ("spec", "template"),
    "replicasets.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "replicationcontrollers": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
    "podtemplates": ("template",),
}


class PodSecurity:
    """Judges pods by their namespace's labels."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerns(self, act: Act) -> bool:
        """Creates and updates of pods, and of what carries a pod template."""
        if act.subresource or act.operation not in ("CREATE", "UPDATE"):
            return False
        return act.resource == "pods" or act.resource in _TEMPLATES

    def judge(self, petition: Petition) -> None:
        """Enforce on pods; warn of pods and templates."""
        namespace = self._store.get("namespaces", Key("", petition.namespace))
        if namespace is None or petition.new is None:
            return
        labels = namespace.labels
        if not any(name.startswith(_PREFIX) for name in labels):
            return
        is_pod = petition.act.resource == "pods"
        path = () if is_pod else _TEMPLATES[petition.act.resource]
        pod = dig(petition.new, *path) if path else petition.new
        if not isinstance(pod, dict):
            return
        if petition.old is not None:
            before: Tree | None = dig(petition.old, *path) if path else petition.old
            if before is not None and before.get("spec") == pod.get("spec"):
                return
        if is_pod:
            level, why = _broken(labels, "enforce", pod)
            if why:
                raise petition.refusal(f'violates PodSecurity "{level}": {why}')
        level, why = _broken(labels, "warn", pod)
        if why:
            petition.warn(f'would violate PodSecurity "{level}": {why}')


def _broken(labels: dict[str, str], mode: str, pod: Tree) -> tuple[str, str]:
    """Return the level of a mode, as printed, and what breaks it."""
    level = labels.get(_PREFIX + mode, "privileged")
    if level not in ("baseline", "restricted"):
        return "", ""
    version = labels.get(f"{_PREFIX}{mode}-version", "latest")
    return f"{level}:{version}", ", ".join(violations(pod, restricted=level == "restricted"))
