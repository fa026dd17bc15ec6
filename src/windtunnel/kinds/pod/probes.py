"""Probes and lifecycle hooks of containers."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.rules.checks import each, none_negative
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

_NUMBERS: Final = (
    "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold",
    "failureThreshold",
)  # fmt: skip
_ONCE: Final = ("livenessProbe", "startupProbe")
_BY_PROBE: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_BY_HOOK: Final = ("exec", "httpGet", "tcpSocket", "sleep")
_LINUX_SIGNALS: Final = frozenset({
    "SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL",
    "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT",
    "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN",
    "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ",
    "SIGRTMIN", "SIGRTMAX",
    *(f"SIGRTMIN+{count}" for count in range(1, 16)),
    *(f"SIGRTMAX-{count}" for count in range(1, 15)),
})  # fmt: skip
_WINDOWS_SIGNALS: Final = frozenset({"SIGKILL", "SIGTERM"})


def validate_probes(container: Tree, grace: int | None, field: str) -> list[Violation]:
    """Judge the three probes of a container."""
    found: list[Violation] = []
    for kind in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(kind)
        if probe is None:
            continue
        where = f"{field}.{kind}"
        found += _probe(probe, grace, where)
        if kind in _ONCE:
            if probe.get("successThreshold") != 1:
                value = probe.get("successThreshold", 0)
                found.append(invalid(f"{where}.successThreshold", value, "must be 1"))
        elif (own := probe.get("terminationGracePeriodSeconds")) is not None:
            text = "must not be set for readinessProbes"
            found.append(invalid(f"{where}.terminationGracePeriodSeconds", own, text))
    return found


def _probe(probe: Tree, grace: int | None, field: str) -> list[Violation]:
    found = _action(probe, _BY_PROBE, grace, field)
    found += none_negative(probe, field, *_NUMBERS)
    own = probe.get("terminationGracePeriodSeconds")
    if own is not None and own <= 0:
        text = "must be greater than 0"
        found.append(invalid(f"{field}.terminationGracePeriodSeconds", own, text))
    return found


def _action(wanted: Tree, kinds: tuple[str, ...], grace: int | None, field: str) -> list[Violation]:
    found: list[Violation] = []
    seen = False
    for kind in kinds:
        action = wanted.get(kind)
        if action is None:
            continue
        where = f"{field}.{kind}"
        if seen:
            found.append(forbidden(where, "may not specify more than 1 handler type"))
            continue
        seen = True
        match kind:
            case "exec":
                if not action.get("command"):
                    found.append(required(f"{where}.command"))
            case "httpGet":
                found += _http_get(action, where)
            case "tcpSocket" | "grpc":
                found += port_or_name(action.get("port", 0), f"{where}.port")
            case _:
                found += _sleep(action, grace, where)
    if not seen:
        found.append(required(field, "must specify a handler type"))
    return found


def _http_get(action: Tree, field: str) -> list[Violation]:
    found: list[Violation] = []
    if not action.get("path"):
        found.append(required(f"{field}.path"))
    found += port_or_name(action.get("port", 0), f"{field}.port")
    scheme = action.get("scheme", "")
    if scheme not in ("HTTP", "HTTPS"):
        found.append(not_supported(f"{field}.scheme", scheme, ["HTTP", "HTTPS"]))
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        found += each(names.http_header_name(name), f"{field}.httpHeaders", name)
    return found


def port_or_name(port: Any, field: str) -> list[Violation]:
    """Judge a port given by number or by name."""
    if isinstance(port, str):
        return each(names.port_name(port), field, port)
    return each(names.port_number(port), field, port)


def _sleep(action: Tree, grace: int | None, field: str) -> list[Violation]:
    seconds = action.get("seconds", 0)
    if grace is None or 0 <= seconds <= grace:
        return []
    text = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
    return [invalid(field, seconds, text)]


def validate_lifecycle(
    lifecycle: Tree, grace: int | None, system: Tree | None, field: str
) -> list[Violation]:
    """Judge the hooks of a container and the signal that stops it."""
    found: list[Violation] = []
    for hook in ("postStart", "preStop"):
        if (wanted := lifecycle.get(hook)) is not None:
            found += _action(wanted, _BY_HOOK, grace, f"{field}.{hook}")
    if (signal := lifecycle.get("stopSignal")) is not None:
        found += _stop_signal(signal, system, f"{field}.stopSignal")
    return found


def _stop_signal(signal: str, system: Tree | None, field: str) -> list[Violation]:
    if system is None:
        text = "may not be set for containers with empty `spec.os.name`"
        return [forbidden(field, text)]
    known = {"linux": _LINUX_SIGNALS, "windows": _WINDOWS_SIGNALS}.get(system.get("name", ""))
    if known is None or signal in known:
        return []
    return [not_supported(field, signal, sorted(known))]
