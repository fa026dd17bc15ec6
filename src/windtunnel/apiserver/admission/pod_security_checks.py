"""The checks of the Pod Security Standards, each a function from a pod to what it breaks, in words.

The texts name containers as the real server does: one quoted, several as a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from windtunnel.machinery.tree import Tree, dig

_CAPABILITIES: Final = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
        "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    }
)  # fmt: skip
_VOLUMES: Final = frozenset(
    {
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image",
        "persistentVolumeClaim", "projected", "secret",
    }
)  # fmt: skip
_SECCOMP: Final = ("RuntimeDefault", "Localhost")

Check = Callable[[Tree], str]


def _containers(spec: Tree) -> Iterator[Tree]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(field) or ()


def _failing(spec: Tree, fails: Callable[[Tree], bool]) -> list[str]:
    return [each.get("name", "") for each in _containers(spec) if fails(each)]


def _context(container: Tree, *path: str) -> Any:
    return dig(container, "securityContext", *path)


def _named(names: list[str]) -> str:
    noun = "container" if len(names) == 1 else "containers"
    return f"{noun} " + ", ".join(f'"{name}"' for name in names)


def _host_namespaces(spec: Tree) -> str:
    used = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field)]
    return f"host namespaces ({', '.join(used)})" if used else ""


def _privileged(spec: Tree) -> str:
    bad = _failing(spec, lambda each: bool(_context(each, "privileged")))
    return f"privileged ({_named(bad)} must not set securityContext.privileged=true)" if bad else ""


def _capabilities(spec: Tree) -> str:
    added = {
        name: [
            cap for cap in _context(each, "capabilities", "add") or () if cap not in _CAPABILITIES
        ]
        for each in _containers(spec)
        if (name := each.get("name", "")) is not None
    }
    bad = [name for name, caps in added.items() if caps]
    if not bad:
        return ""
    caps = ", ".join(f'"{cap}"' for cap in sorted({cap for caps in added.values() for cap in caps}))
    return (
        f"non-default capabilities ({_named(bad)} must not include {caps} in "
        "securityContext.capabilities.add)"
    )


def _host_paths(spec: Tree) -> str:
    bad = [each.get("name", "") for each in spec.get("volumes") or () if each.get("hostPath")]
    noun = "volume" if len(bad) == 1 else "volumes"
    listed = ", ".join(f'"{name}"' for name in bad)
    return f"hostPath volumes ({noun} {listed})" if bad else ""


def _host_ports(spec: Tree) -> str:
    ports: list[int] = []
    names = []
    for container in _containers(spec):
        found = [port["hostPort"] for port in container.get("ports") or () if port.get("hostPort")]
        if found:
            names.append(container.get("name", ""))
            ports += found
    if not names:
        return ""
    uses = "uses" if len(names) == 1 else "use"
    noun = "hostPort" if len(ports) == 1 else "hostPorts"
    listed = ", ".join(str(port) for port in sorted(set(ports)))
    return f"hostPort ({_named(names)} {uses} {noun} {listed})"


def _proc_mount(spec: Tree) -> str:
    bad = _failing(spec, lambda each: _context(each, "procMount") not in (None, "Default"))
    if not bad or spec.get("hostUsers") is False:
        return ""
    return f'procMount ({_named(bad)} must not set securityContext.procMount to "Unmasked")'


def _sysctls(spec: Tree) -> str:
    given = [each.get("name", "") for each in dig(spec, "securityContext", "sysctls") or ()]
    bad = [name for name in given if name not in _SYSCTLS]
    return f"forbidden sysctls ({', '.join(bad)})" if bad else ""


def _unconfined(spec: Tree) -> str:
    pod = dig(spec, "securityContext", "seccompProfile", "type") == "Unconfined"
    bad = _failing(spec, lambda each: _context(each, "seccompProfile", "type") == "Unconfined")
    subjects = [*(["pod"] if pod else []), *([_named(bad)] if bad else [])]
    if not subjects:
        return ""
    return (
        f"seccompProfile ({' and '.join(subjects)} must not set "
        'securityContext.seccompProfile.type to "Unconfined")'
    )


def _windows_host(spec: Tree) -> str:
    pod = bool(dig(spec, "securityContext", "windowsOptions", "hostProcess"))
    bad = _failing(spec, lambda each: bool(_context(each, "windowsOptions", "hostProcess")))
    subjects = [*(["pod"] if pod else []), *([_named(bad)] if bad else [])]
    if not subjects:
        return ""
    return (
        f"hostProcess ({' and '.join(subjects)} must not set "
        "securityContext.windowsOptions.hostProcess=true)"
    )


def _escalation(spec: Tree) -> str:
    bad = _failing(spec, lambda each: _context(each, "allowPrivilegeEscalation") is not False)
    if not bad:
        return ""
    return (
        f"allowPrivilegeEscalation != false ({_named(bad)} must set "
        "securityContext.allowPrivilegeEscalation=false)"
    )


def _dropped_capabilities(spec: Tree) -> str:
    keeps = _failing(spec, lambda each: "ALL" not in (_context(each, "capabilities", "drop") or ()))
    adds = _failing(
        spec,
        lambda each: bool(set(_context(each, "capabilities", "add") or ()) - {"NET_BIND_SERVICE"}),
    )
    found = []
    if keeps:
        found.append(f'{_named(keeps)} must set securityContext.capabilities.drop=["ALL"]')
    if adds:
        caps = sorted(
            {
                cap
                for each in _containers(spec)
                for cap in _context(each, "capabilities", "add") or ()
                if cap != "NET_BIND_SERVICE"
            }
        )
        listed = ", ".join(f'"{cap}"' for cap in caps)
        found.append(
            f"{_named(adds)} must not include {listed} in securityContext.capabilities.add"
        )
    return f"unrestricted capabilities ({'; '.join(found)})" if found else ""


def _volume_types(spec: Tree) -> str:
    bad: list[str] = []
    types: set[str] = set()
    for volume in spec.get("volumes") or ():
        found = [field for field in volume if field != "name" and field not in _VOLUMES]
        if found:
            bad.append(volume.get("name", ""))
            types.update(found)
    if not bad:
        return ""
    noun, verb = ("volume", "uses") if len(bad) == 1 else ("volumes", "use")
    kind = "type" if len(types) == 1 else "types"
    listed = ", ".join(f'"{name}"' for name in bad)
    shown = ", ".join(f'"{name}"' for name in sorted(types))
    return f"restricted volume types ({noun} {listed} {verb} restricted volume {kind} {shown})"


def _root(spec: Tree) -> str:
    pod = dig(spec, "securityContext", "runAsNonRoot")
    explicit = _failing(spec, lambda each: _context(each, "runAsNonRoot") is False)
    unset = _failing(spec, lambda each: _context(each, "runAsNonRoot") is None)
    subjects = [*(["pod"] if pod is False else []), *([_named(explicit)] if explicit else [])]
    if subjects:
        return (
            f"runAsNonRoot != true ({' and '.join(subjects)} must not set "
            "securityContext.runAsNonRoot=false)"
        )
    if unset and not pod:
        return (
            f"runAsNonRoot != true (pod or {_named(unset)} must set "
            "securityContext.runAsNonRoot=true)"
        )
    return ""


def _root_user(spec: Tree) -> str:
    pod = dig(spec, "securityContext", "runAsUser") == 0
    bad = _failing(spec, lambda each: _context(each, "runAsUser") == 0)
    subjects = [*(["pod"] if pod else []), *([_named(bad)] if bad else [])]
    return f"runAsUser=0 ({' and '.join(subjects)} must not set runAsUser=0)" if subjects else ""


def _seccomp(spec: Tree) -> str:
    pod = dig(spec, "securityContext", "seccompProfile", "type")
    bad = _failing(
        spec, lambda each: _context(each, "seccompProfile", "type") not in (None, *_SECCOMP)
    )
    subjects = [
        *(["pod"] if pod not in (None, *_SECCOMP) else []),
        *([_named(bad)] if bad else []),
    ]
    choice = '"RuntimeDefault" or "Localhost"'
    if subjects:
        return (
            f"seccompProfile ({' and '.join(subjects)} must not set "
            'securityContext.seccompProfile.type to "Unconfined")'
        )
    unset = _failing(spec, lambda each: _context(each, "seccompProfile", "type") is None)
    if unset and pod not in _SECCOMP:
        return (
            f"seccompProfile (pod or {_named(unset)} must set "
            f"securityContext.seccompProfile.type to {choice})"
        )
    return ""


# In the order of the real server, which sorts its checks by name.
_BASELINE: Final[tuple[Check, ...]] = (
    _capabilities, _host_namespaces, _host_paths, _host_ports, _privileged, _proc_mount,
    _unconfined, _sysctls, _windows_host,
)  # fmt: skip
_RESTRICTED: Final[tuple[Check, ...]] = (
    _host_namespaces, _host_ports, _privileged, _proc_mount, _sysctls, _windows_host,
    _escalation, _dropped_capabilities, _volume_types, _root, _root_user, _seccomp,
)  # fmt: skip


def violations(pod: Tree, *, restricted: bool) -> list[str]:
    """Return what a pod breaks of the baseline or restricted level, in words."""
    spec = pod.get("spec") or {}
    return [text for check in (_RESTRICTED if restricted else _BASELINE) if (text := check(spec))]
