"""Security contexts of pods and containers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from windtunnel.kinds.pod.paths import descending_path
from windtunnel.kinds.rules.checks import each, go_value
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)

_SYSCTL_SEGMENT: Final = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL: Final = "(" + _SYSCTL_SEGMENT + "[\\./])*" + _SYSCTL_SEGMENT
_is_sysctl = re.compile(_SYSCTL).fullmatch
_PROFILE_TYPES: Final = ["Localhost", "RuntimeDefault", "Unconfined"]
_PATH_BYTES: Final = 4095
_NOT_ON_LINUX: Final = "windows options cannot be set for a linux pod"
_NOT_ON_WINDOWS: Final = "cannot be set for a windows pod"
_POD_ON_WINDOWS: Final = (
    "securityContext.appArmorProfile", "securityContext.seLinuxOptions", "hostUsers", "hostPID",
    "hostIPC", "securityContext.seccompProfile", "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy", "securityContext.sysctls", "shareProcessNamespace",
    "securityContext.runAsUser", "securityContext.runAsGroup",
    "securityContext.supplementalGroups", "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)  # fmt: skip
_CONTAINER_ON_WINDOWS: Final = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
    "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser",
    "runAsGroup",
)  # fmt: skip
_FALSE_IS_UNSET: Final = frozenset({"hostPID", "hostIPC"})
_GMSA_KIB: Final = 64
_IN_NET: Final = ("net.",)
_IN_IPC: Final = ("kernel.shm", "kernel.msg", "fs.mqueue.")


def containers_of(spec: Tree, field: str) -> Iterator[tuple[Tree, str]]:
    """Yield every container of a pod spec, init containers first, with its path."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            yield container, f"{field}.{key}[{index}]"


def _ids(context: Tree, field: str, *keys: str) -> list[Violation]:
    found: list[Violation] = []
    for key in keys:
        value = context.get(key)
        if value is not None:
            found += each(names.unix_id(value), f"{field}.{key}", value)
    return found


def validate_pod_security(spec: Tree, field: str) -> list[Violation]:
    """Judge the security context of a pod; the host's namespaces stand in the spec itself."""
    context = spec.get("securityContext")
    where = f"{field}.securityContext"
    if not context:
        return _shared_processes(spec, where)
    found = _ids(context, where, "fsGroup", "runAsUser", "runAsGroup")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        found += each(names.unix_id(group), f"{where}.supplementalGroups[{index}]", group)
    found += _shared_processes(spec, where)
    found += _sysctls(spec, context, f"{where}.sysctls")
    found += _choice(context, where, "fsGroupChangePolicy", ("Always", "OnRootMismatch"))
    found += _seccomp(context.get("seccompProfile"), f"{where}.seccompProfile")
    found += _windows_options(context.get("windowsOptions"), f"{where}.windowsOptions")
    found += validate_app_armor(context.get("appArmorProfile"), f"{where}.appArmorProfile")
    found += _choice(context, where, "supplementalGroupsPolicy", ("Merge", "Strict"))
    found += _choice(context, where, "seLinuxChangePolicy", ("Recursive",))
    return found


def _shared_processes(spec: Tree, field: str) -> list[Violation]:
    if not (spec.get("shareProcessNamespace") and spec.get("hostPID")):
        return []
    text = "ShareProcessNamespace and HostPID cannot both be enabled"
    return [invalid(f"{field}.shareProcessNamespace", True, text)]


def _choice(context: Tree, field: str, key: str, allowed: tuple[str, ...]) -> list[Violation]:
    value = context.get(key)
    if value is None or value in allowed:
        return []
    return [not_supported(f"{field}.{key}", value, list(allowed))]


def _sysctls(spec: Tree, context: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, sysctl in enumerate(context.get("sysctls") or ()):
        name, where = sysctl.get("name", ""), f"{field}[{index}].name"
        if not name:
            found.append(required(where))
        elif len(name) > 253 or not _is_sysctl(name):
            text = f"must have at most 253 characters and match regex ^{_SYSCTL}$"
            found.append(invalid(where, name, text))
        elif name in seen:
            found.append(duplicate(where, name))
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith(_IN_NET):
            text = "may not be specified when 'hostNetwork' is true"
            found.append(invalid(where, name, text))
        elif spec.get("hostIPC") and (dotted.startswith(_IN_IPC) or dotted == "kernel.sem"):
            found.append(invalid(where, name, "may not be specified when 'hostIPC' is true"))
        seen.add(name)
    return found


def _seccomp(profile: Tree | None, field: str) -> list[Violation]:
    if profile is None:
        return []
    found: list[Violation] = []
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        text = "type is required when seccompProfile is set"
        found.append(required(f"{field}.type", text))
    elif kind not in _PROFILE_TYPES:
        found.append(not_supported(f"{field}.type", kind, _PROFILE_TYPES))
    where = f"{field}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            found.append(required(where, "must be set when seccomp type is Localhost"))
        else:
            found += descending_path(local, where)
    elif local is not None:
        text = "can only be set when seccomp type is Localhost"
        found.append(invalid(where, go_value(profile), text))
    return found


def validate_app_armor(profile: Tree | None, field: str) -> list[Violation]:
    """Judge an AppArmor profile."""
    if profile is None:
        return []
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    where = f"{field}.localhostProfile"
    if not kind:
        return [required(f"{field}.type", "type is required when appArmorProfile is set")]
    if kind not in _PROFILE_TYPES:
        return [not_supported(f"{field}.type", kind, _PROFILE_TYPES)]
    if kind != "Localhost":
        if local is None:
            return []
        return [invalid(where, local, "can only be set when AppArmor type is Localhost")]
    if local is None or (not local.strip() and local == local.strip()):
        return [required(where, "must be set when AppArmor type is Localhost")]
    found = []
    if local != local.strip():
        found.append(invalid(where, local, "must not be padded with whitespace"))
    if len(local.encode()) > _PATH_BYTES:
        found.append(too_long(where, _PATH_BYTES))
    return found


def validate_container_security(
    context: Tree | None, field: str, host_users: bool
) -> list[Violation]:
    """Judge the security context of a container."""
    if not context:
        return []
    found = _ids(context, field, "runAsUser", "runAsGroup")
    mount = context.get("procMount")
    if mount is not None:
        if mount not in ("Default", "Unmasked"):
            found.append(not_supported(f"{field}.procMount", mount, ["Default", "Unmasked"]))
        if host_users and mount == "Unmasked":
            text = "`hostUsers` must be false to use `Unmasked`"
            found.append(invalid(f"{field}.procMount", mount, text))
    found += _seccomp(context.get("seccompProfile"), f"{field}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        text = "cannot set `allowPrivilegeEscalation` to false and "
        if context.get("privileged"):
            found.append(invalid(field, go_value(context), text + "`privileged` to true"))
        for capability in dig(context, "capabilities", "add") or ():
            if capability == "CAP_SYS_ADMIN":
                why = text + "`capabilities.Add` CAP_SYS_ADMIN"
                found.append(invalid(field, go_value(context), why))
    found += _windows_options(context.get("windowsOptions"), f"{field}.windowsOptions")
    found += validate_app_armor(context.get("appArmorProfile"), f"{field}.appArmorProfile")
    return found


_has_control = re.compile(r"[\x00-\x1f\x7f]").search
_is_netbios = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}').fullmatch
_WINDOWS_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_is_windows_domain = re.compile(rf"{_WINDOWS_LABEL}(?:\.{_WINDOWS_LABEL})*").fullmatch
_only_dots = re.compile(r"[. ]+").fullmatch
_has_forbidden = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search


def _windows_options(options: Tree | None, field: str) -> list[Violation]:
    if not options:
        return []
    found: list[Violation] = []
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        found += each(names.dns_subdomain(name), f"{field}.gmsaCredentialSpecName", name)
    credential = options.get("gmsaCredentialSpec")
    if credential is not None:
        where = f"{field}.gmsaCredentialSpec"
        if not credential:
            text = "gmsaCredentialSpec cannot be an empty string"
            found.append(invalid(where, credential, text))
        elif len(credential.encode()) > _GMSA_KIB * 1024:
            text = f"gmsaCredentialSpec size must be under {_GMSA_KIB} KiB"
            found.append(invalid(where, credential, text))
    user = options.get("runAsUserName")
    if user is not None:
        texts = _windows_user(user)
        found += each([f"runAsUserName{text}" for text in texts], f"{field}.runAsUserName", user)
    return found


def _windows_user(name: str) -> list[str]:
    if not name:
        return [" cannot be an empty string"]
    if _has_control(name):
        return [" cannot contain control characters"]
    parts = name.split("\\")
    if len(parts) > 2:
        return [" cannot contain more than one backslash"]
    texts: list[str] = []
    user = parts[-1]
    if len(parts) == 2:
        if len(parts[0]) >= 256:
            texts.append("'s Domain length must be under 256 characters")
        if not (_is_netbios(parts[0]) or _is_windows_domain(parts[0])):
            texts.append("'s Domain doesn't match the NetBios nor the DNS format")
    if not user:
        texts.append("'s User cannot be empty")
    elif len(user) > 104:
        texts.append("'s User length must not be longer than 104 characters")
    if _only_dots(user):
        texts.append("'s User cannot contain only periods or spaces")
    if _has_forbidden(user):
        marks = '"/\\:;|=,+*?<>@[]'
        texts.append(f"'s User cannot contain the following characters: {marks}")
    return texts


def validate_host_process(spec: Tree, field: str) -> list[Violation]:
    """Judge Windows host processes: all containers or none, on the host's network."""
    whole = dig(spec, "securityContext", "windowsOptions", "hostProcess")
    found: list[Violation] = []
    total = inside = 0
    for container, where in containers_of(spec, field):
        total += 1
        own = dig(container, "securityContext", "windowsOptions", "hostProcess")
        if whole is not None and own is not None and whole != own:
            was = "true" if whole else "false"
            text = f"pod hostProcess value must be identical if both are specified, was {was}"
            at = f"{where}.securityContext.windowsOptions.hostProcess"
            found.append(invalid(at, own, text))
        if own or (own is None and whole):
            inside += 1
    if inside and inside != total:
        text = (
            "If pod contains any hostProcess containers then all containers must be HostProcess"
            " containers"
        )
        found.append(invalid(field, "", text))
    if inside and not spec.get("hostNetwork"):
        text = "hostNetwork must be true if pod contains any hostProcess containers"
        found.append(invalid(f"{field}.hostNetwork", False, text))
    return found


def validate_host_users(spec: Tree, field: str) -> list[Violation]:
    """Judge a pod with users of its own: it may not share the host's namespaces."""
    if spec.get("hostUsers") is not False:
        return []
    text = "when `hostUsers` is false"
    found: list[Violation] = []
    for key, said in (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ):
        if spec.get(key):
            found.append(forbidden(f"{field}.{said}", text))
    for container, where in containers_of(spec, field):
        if container.get("volumeDevices"):
            found.append(forbidden(f"{where}.volumeDevices", text))
    return found


def validate_system(spec: Tree, field: str) -> list[Violation]:
    """Judge ``os``, and that nothing is set that the named system does not know."""
    system = spec.get("os")
    if system is None:
        return []
    name = system.get("name", "")
    if not name:
        return [required(f"{field}.os.name")]
    if name not in ("linux", "windows"):
        return [not_supported(f"{field}.os", name, ["linux", "windows"])]
    return _on_linux(spec, field) if name == "linux" else _on_windows(spec, field)


def _on_linux(spec: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    if dig(spec, "securityContext", "windowsOptions") is not None:
        found.append(forbidden(f"{field}.securityContext.windowsOptions", _NOT_ON_LINUX))
    for container, where in containers_of(spec, field):
        if dig(container, "securityContext", "windowsOptions") is not None:
            found.append(forbidden(f"{where}.securityContext.windowsOptions", _NOT_ON_LINUX))
    return found


def _on_windows(spec: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    for path in _POD_ON_WINDOWS:
        value = dig(spec, *path.split("."))
        if value is not None and not (path in _FALSE_IS_UNSET and value is False):
            found.append(forbidden(f"{field}.{path}", _NOT_ON_WINDOWS))
    for container, where in containers_of(spec, field):
        context = container.get("securityContext") or {}
        for key in _CONTAINER_ON_WINDOWS:
            if context.get(key) is not None:
                found.append(forbidden(f"{where}.securityContext.{key}", _NOT_ON_WINDOWS))
    return found
