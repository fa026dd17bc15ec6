"""Annotations that mean something to pods, and the fields that have replaced them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from windtunnel.kinds.pod.paths import descending_path
from windtunnel.kinds.pod.scheduling import validate_tolerations
from windtunnel.kinds.pod.security import containers_of
from windtunnel.kinds.rules.json_annotations import UnreadableError, read_list
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, forbidden, invalid

MIRROR: Final = "kubernetes.io/config.mirror"
APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP: Final = "seccomp.security.alpha.kubernetes.io/pod"
TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
_TOLERATION: Final = {
    "key": str,
    "operator": str,
    "value": str,
    "effect": str,
    "tolerationSeconds": int,
}
CONTAINER_SECCOMP: Final = "container.seccomp.security.alpha.kubernetes.io/"


def validate_pod_annotations(
    annotations: Mapping[str, str], spec: Tree, field: str = "metadata.annotations"
) -> list[Violation]:
    """Judge annotations that mean something to pods."""
    found: list[Violation] = []
    if MIRROR in annotations and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        found.append(invalid(f"{field}[{MIRROR}]", annotations[MIRROR], text))
    if annotations.get(TOLERATIONS):
        found += _tolerations(annotations[TOLERATIONS], field)
    cost = annotations.get("controller.kubernetes.io/pod-deletion-cost")
    if cost is not None and not _is_int32(cost):
        where = f"{field}[controller.kubernetes.io/pod-deletion-cost]"
        found.append(invalid(where, cost, "must be a 32bit integer"))
    for key, value in annotations.items():
        if key == SECCOMP or key.startswith(CONTAINER_SECCOMP):
            found += _seccomp_annotation(value, f"{field}.{key}")
        elif key.startswith(APP_ARMOR):
            found += _app_armor_annotation(key, value, spec, f"{field}[{key}]")
    return found


def _tolerations(text: str, field: str) -> list[Violation]:
    try:
        tolerations = read_list(text, "Toleration", _TOLERATION)
    except UnreadableError as problem:
        return [invalid(field, TOLERATIONS, str(problem))]
    return validate_tolerations(tolerations, f"{field}.{TOLERATIONS}")


def _is_int32(text: str) -> bool:
    digits = text[1:] if text[:1] in "+-" else text
    if not digits.isascii() or not digits.isdigit() or len(digits) > 10:
        return False
    leading = text[0] == "+" or (digits[0] == "0" and len(digits) > 1)
    return not leading and -(2**31) <= int(text) < 2**31


def _seccomp_annotation(value: str, field: str) -> list[Violation]:
    if value in ("runtime/default", "docker/default", "unconfined"):
        return []
    if not value.startswith("localhost/"):
        return [invalid(field, value, "must be a valid seccomp profile")]
    return descending_path(value.removeprefix("localhost/"), field)


def _app_armor_annotation(key: str, value: str, spec: Tree, field: str) -> list[Violation]:
    name = key.removeprefix(APP_ARMOR)
    found = []
    if all(container.get("name") != name for container, _ in containers_of(spec, "spec")):
        found.append(invalid(field, name, "container not found"))
    if value not in ("", "runtime/default", "unconfined") and not value.startswith("localhost/"):
        text = f'invalid AppArmor profile name: "{value}"'
        found.append(invalid(field, value, text))
    return found


def app_armor_field(annotation: str) -> Tree | None:
    """Return the profile that an annotation of old means; None where it means none."""
    if annotation in ("unconfined", "runtime/default"):
        return {"type": "Unconfined" if annotation == "unconfined" else "RuntimeDefault"}
    path = annotation.removeprefix("localhost/")
    if path != annotation and path and path == path.strip():
        return {"type": "Localhost", "localhostProfile": path}
    return None


def adopt_app_armor(annotations: Mapping[str, str], spec: Tree) -> None:
    """Give containers the profile of their annotation, where no field says otherwise."""
    if dig(spec, "os", "name") == "windows":
        return
    whole = dig(spec, "securityContext", "appArmorProfile")
    for container, _ in containers_of(spec, "spec"):
        annotation = annotations.get(APP_ARMOR + container.get("name", ""))
        if annotation is None or dig(container, "securityContext", "appArmorProfile"):
            continue
        profile = app_armor_field(annotation)
        if profile is not None and profile != whole:
            container.setdefault("securityContext", {})["appArmorProfile"] = profile


def validate_profiles(annotations: Mapping[str, str], spec: Tree, field: str) -> list[Violation]:
    """Judge that annotations and the fields which replaced them say the same."""
    found: list[Violation] = []
    context = spec.get("securityContext") or {}
    found += _match(
        annotations.get(SECCOMP),
        context.get("seccompProfile"),
        f"{field}.securityContext.seccompProfile",
        "seccomp",
    )
    for container, where in containers_of(spec, field):
        own, name = container.get("securityContext") or {}, container.get("name", "")
        found += _match(
            annotations.get(CONTAINER_SECCOMP + name),
            own.get("seccompProfile"),
            f"{where}.securityContext.seccompProfile",
            "seccomp",
        )
    if dig(spec, "os", "name") == "windows":
        return found
    for container, where in containers_of(spec, field):
        own, name = container.get("securityContext") or {}, container.get("name", "")
        found += _match(
            annotations.get(APP_ARMOR + name),
            own.get("appArmorProfile") or context.get("appArmorProfile"),
            f"{where}.securityContext.appArmorProfile",
            "apparmor",
        )
    return found


def _match(annotation: str | None, profile: Tree | None, field: str, said: str) -> list[Violation]:
    if annotation is None or profile is None:
        return []
    wrong_type = [forbidden(f"{field}.type", f"{said} type in annotation and field must match")]
    match profile.get("type"):
        case "Unconfined":
            return [] if annotation == "unconfined" else wrong_type
        case "RuntimeDefault":
            known = annotation == "runtime/default"
            docker = said == "seccomp" and annotation == "docker/default"
            return [] if known or docker else wrong_type
        case "Localhost":
            if not annotation.startswith("localhost/"):
                return wrong_type
            if annotation.removeprefix("localhost/") != profile.get("localhostProfile"):
                text = f"{said} profile in annotation and field must match"
                return [forbidden(f"{field}.localhostProfile", text)]
    return []
