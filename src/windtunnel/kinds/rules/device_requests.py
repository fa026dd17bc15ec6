"""What a resource claim asks for: requests, constraints and configuration of devices.

Selectors are CEL; they are stored, not compiled. Source: resource.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig, encode
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)

TAINT_EFFECTS: Final = ["NoExecute", "NoSchedule", "None"]
_MOST: Final = 32
_MOST_ALTERNATIVES: Final = 8
_LONGEST_PARAMETERS: Final = 10 * 1024
_LONGEST_DRIVER: Final = 63
_LONGEST_EXPRESSION: Final = 10 * 1024
_ONE_OF: Final = "exactly one of `exactly` or `firstAvailable` is required"
_REFERENCE: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated"
    " by '/'"
)
_ONE_ATTRIBUTE: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are'
    " set"
)

JudgeItem = Callable[[Any, str], list[Violation]]


def default_devices(devices: Tree | None) -> None:
    """Fill in how many devices each request means."""
    for request in (devices or {}).get("requests") or ():
        for wanted in (request.get("exactly"), *(request.get("firstAvailable") or ())):
            if wanted is None:
                continue
            if not wanted.get("allocationMode"):
                wanted["allocationMode"] = "ExactCount"
            if wanted["allocationMode"] == "ExactCount" and not wanted.get("count"):
                wanted["count"] = 1


def each_of(
    items: Sequence[Any], field: str, judge: JudgeItem, limit: int, key: Callable[[Any], Any] | None
) -> list[Violation]:
    """Judge a list: not too long, every item sound, no key twice (``key`` None: no matter)."""
    if len(items) > limit:
        return [too_many(field, len(items), limit)]
    found = [v for index, item in enumerate(items) for v in judge(item, f"{field}[{index}]")]
    if key is not None:
        seen: set[Any] = set()
        for index, item in enumerate(items):
            if key(item) in seen:
                found.append(duplicate(f"{field}[{index}]", key(item)))
            seen.add(key(item))
    return found


def validate_driver(name: str, field: str) -> list[Violation]:
    """Judge the name of a DRA driver."""
    if not name:
        return [required(field)]
    found = [too_long(field, _LONGEST_DRIVER)] if len(name) > _LONGEST_DRIVER else []
    return found + checks.each(names.dns_subdomain(name.lower()), field, name)


def validate_attribute_name(name: str, field: str) -> list[Violation]:
    """Judge the name of an attribute or capacity: an identifier, with or without a domain."""
    domain, slash, rest = name.partition("/")
    if not slash:
        return checks.each(names.c_identifier(name), field, name)
    if "/" in rest:
        return []
    if domain:
        found = validate_driver(domain, field)
    else:
        found = [invalid(field, "", "the domain must not be empty")]
    if not rest:
        return [*found, invalid(field, "", "the name must not be empty")]
    return found + checks.each(names.c_identifier(rest), field, rest)


def _full_attribute_name(name: str, field: str) -> list[Violation]:
    found = validate_attribute_name(name, field)
    if "/" not in name:
        text = "a fully qualified name must be a domain and a name separated by a slash"
        found.append(invalid(field, name, text))
    return found


def _request_name(name: str, field: str) -> list[Violation]:
    return checks.named(name, field, names.dns_label)


def validate_selectors(selectors: Sequence[Tree] | None, field: str) -> list[Violation]:
    """Judge selectors in structure; their expressions are not compiled."""

    def judge(selector: Tree, where: str) -> list[Violation]:
        if selector.get("cel") is None:
            return [required(f"{where}.cel")]
        expression = selector["cel"].get("expression") or ""
        if not expression.strip():
            return [required(f"{where}.cel.expression")]
        if len(expression) > _LONGEST_EXPRESSION:
            return [too_long(f"{where}.cel.expression", _LONGEST_EXPRESSION)]
        return []

    return each_of(selectors or (), field, judge, _MOST, None)


def _toleration(toleration: Tree, field: str) -> Iterator[Violation]:
    key, value = toleration.get("key") or "", toleration.get("value") or ""
    operator, effect = toleration.get("operator") or "", toleration.get("effect") or ""
    if key:
        yield from checks.each(names.label_key(key), f"{field}.key", key)
    if operator == "Exists":
        if value:
            text = "must be empty for operator `Exists`"
            yield invalid(f"{field}.value", value, text)
    elif operator == "Equal":
        yield from checks.each(names.label_value(value), f"{field}.value", value)
    else:
        yield from checks.one_of_needed(operator, f"{field}.operator", ["Equal", "Exists"])
    if effect:
        yield from checks.one_of(effect, f"{field}.effect", TAINT_EFFECTS)


def _wanted(wanted: Tree, field: str) -> list[Violation]:
    mode, count = wanted.get("allocationMode") or "", wanted.get("count") or 0
    found = checks.named(
        wanted.get("deviceClassName"), f"{field}.deviceClassName", names.dns_subdomain
    )
    found += validate_selectors(wanted.get("selectors"), f"{field}.selectors")
    if mode == "All":
        if count:
            text = "must not be specified when allocationMode is 'All'"
            found.append(invalid(f"{field}.count", count, text))
    elif mode == "ExactCount":
        if count <= 0:
            found.append(invalid(f"{field}.count", count, "must be greater than zero"))
    else:
        found.append(not_supported(f"{field}.allocationMode", mode, ["All", "ExactCount"]))
    for index, toleration in enumerate(wanted.get("tolerations") or ()):
        found += _toleration(toleration, f"{field}.tolerations[{index}]")
    return found


def _alternative(wanted: Tree, field: str) -> list[Violation]:
    return _request_name(wanted.get("name") or "", f"{field}.name") + _wanted(wanted, field)


def _request(request: Tree, field: str) -> list[Violation]:
    found = _request_name(request.get("name") or "", f"{field}.name")
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is not None and alternatives:
        text = f"{_ONE_OF}, but multiple fields are set"
        return [*found, invalid(field, None, text)]
    if exactly is not None:
        return found + _wanted(exactly, f"{field}.exactly")
    if alternatives:
        where = f"{field}.firstAvailable"
        return found + each_of(alternatives, where, _alternative, _MOST_ALTERNATIVES, _name_of)
    return [*found, required(field, _ONE_OF)]


def _name_of(item: Tree) -> str:
    return item.get("name") or ""


def _known_requests(devices: Tree) -> set[str]:
    known = set()
    for request in devices.get("requests") or ():
        known.add(_name_of(request))
        for wanted in request.get("firstAvailable") or ():
            known.add(f"{_name_of(request)}/{_name_of(wanted)}")
    return known


def _references(requests: Sequence[str] | None, field: str, known: set[str]) -> list[Violation]:
    def judge(name: str, where: str) -> list[Violation]:
        parts = name.split("/")
        if len(parts) > 2:
            return [invalid(where, name, _REFERENCE)]
        found = [v for part in parts for v in _request_name(part, where)]
        return found if name in known else [*found, invalid(where, name, _REFERENCE)]

    return each_of(requests or (), field, judge, _MOST, str)


def validate_configuration(configuration: Tree, field: str) -> list[Violation]:
    """Judge opaque configuration for a driver."""
    opaque = configuration.get("opaque")
    if opaque is None:
        return [required(f"{field}.opaque")]
    found = validate_driver(opaque.get("driver") or "", f"{field}.opaque.driver")
    parameters, where = opaque.get("parameters"), f"{field}.opaque.parameters"
    if parameters is None:
        found.append(required(where))
    elif len(encode(parameters)) > _LONGEST_PARAMETERS:
        found.append(too_long(where, _LONGEST_PARAMETERS))
    elif not isinstance(parameters, dict):
        found.append(invalid(where, "<value omitted>", "must be a valid JSON object"))
    return found


def validate_devices(devices: Tree, field: str) -> list[Violation]:
    """Judge ``spec.devices`` of a claim."""
    known = _known_requests(devices)

    def constraint(given: Tree, where: str) -> list[Violation]:
        found = _references(given.get("requests"), f"{where}.requests", known)
        for key in ("matchAttribute", "distinctAttribute"):
            if given.get(key) is not None:
                return found + _full_attribute_name(given[key], f"{where}.{key}")
        return [*found, required(where, _ONE_ATTRIBUTE)]

    def configuration(given: Tree, where: str) -> list[Violation]:
        found = _references(given.get("requests"), f"{where}.requests", known)
        return found + validate_configuration(given, where)

    requests = devices.get("requests") or []
    found = each_of(requests, f"{field}.requests", _request, _MOST, _name_of)
    constraints = devices.get("constraints") or []
    found += each_of(constraints, f"{field}.constraints", constraint, _MOST, None)
    given = devices.get("config") or []
    return found + each_of(given, f"{field}.config", configuration, _MOST, None)


def asks_for_admin_access(tree: Tree) -> list[str]:
    """Return the fields of a claim's requests that ask for devices in use by others."""
    return [
        f"spec.devices.requests[{index}].adminAccess"
        for index, request in enumerate(dig(tree, "spec", "devices", "requests") or ())
        if dig(request, "exactly", "adminAccess")
    ]
