"""Flow schemas and priority levels: stored and judged; nothing here queues requests.

Source: flowcontrol.apiserver.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

import math
from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

_VERBS: Final = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
]
_SUBJECTS: Final = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_EXEMPT: Final = "exempt"
_DEFAULT_PRECEDENCE: Final = 1000
_HIGHEST_PRECEDENCE: Final = 10000
_DEFAULT_QUEUING: Final = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}
_DEFAULT_SHARES: Final = 30
_MOST_QUEUES: Final = 10_000_000
_MOST_ENTROPY_BITS: Final = 60
"""Bits of a hash that deal a hand of queues."""
_LIMITED: Final = "spec.limited"


def _default_schema(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = _DEFAULT_PRECEDENCE


def _alone(values: list[str], field: str, what: str) -> list[Violation]:
    if len(values) > 1 and "*" in values:
        text = f"if '*' is present, must not specify other {what}"
        return [invalid(field, values, text)]
    return []


def _verbs(rule: Tree, field: str) -> list[Violation]:
    verbs, where = rule.get("verbs") or [], f"{field}.verbs"
    if not verbs:
        return [required(where, "verbs must contain at least one value")]
    if "*" in verbs:
        return _alone(verbs, where, "verbs")
    return [] if set(verbs) <= set(_VERBS) else [not_supported(where, verbs, _VERBS)]


def _some(rule: Tree, field: str, key: str, missing: str, others: str) -> list[Violation]:
    values, where = rule.get(key) or [], f"{field}.{key}"
    return _alone(values, where, others) if values else [required(where, missing)]


def _resource_rule(rule: Tree, field: str) -> list[Violation]:
    found = _verbs(rule, field)
    text = "resource rules must supply at least one api group"
    found += _some(rule, field, "apiGroups", text, "api groups")
    text = "resource rules must supply at least one resource"
    found += _some(rule, field, "resources", text, "resources")
    namespaces, where = rule.get("namespaces") or [], f"{field}.namespaces"
    if not namespaces and not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        found.append(required(where, text))
    elif "*" in namespaces:
        found += _alone(namespaces, where, "namespaces")
    else:
        for index, namespace in enumerate(namespaces):
            for text in names.dns_label(namespace):
                said = f"each member of this list must be '*' or a DNS-1123 label; {text}"
                found.append(invalid(f"{where}[{index}]", namespace, said))
    return found


def _url_problem(path: str) -> str:
    if not path:
        return "must not be empty"
    if path == "/":
        return ""
    if not path.startswith("/"):
        return "must start with slash"
    if " " in path:
        return "must not contain white-space"
    if "//" in path:
        return "must not contain double slash"
    stars = path.count("*")
    if stars > 1 or (stars == 1 and not path.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


def _url_rule(rule: Tree, field: str) -> list[Violation]:
    found = _verbs(rule, field)
    urls, where = rule.get("nonResourceURLs") or [], f"{field}.nonResourceURLs"
    if not urls:
        return [*found, required(where, "nonResourceURLs must contain at least one value")]
    if "*" in urls:
        return found + _alone(urls, where, "non-resource URLs")
    for index, url in enumerate(urls):
        problem = _url_problem(url)
        if problem:
            found.append(invalid(f"{where}[{index}]", url, problem))
    return found


def _subject(subject: Tree, field: str) -> list[Violation]:
    kind = subject.get("kind") or ""
    if kind not in _SUBJECTS:
        return [not_supported(f"{field}.kind", kind, sorted(_SUBJECTS))]
    key = _SUBJECTS[kind]
    named, where = subject.get(key), f"{field}.{key}"
    found: list[Violation] = []
    if named is None:
        found.append(required(where, f"{key} is required when subject kind is '{kind}'"))
    else:
        name = named.get("name") or ""
        if not name:
            found.append(required(f"{where}.name"))
        elif kind == "ServiceAccount" and name != "*":
            found += checks.each(names.dns_subdomain(name), f"{where}.name", name)
        if kind == "ServiceAccount":
            namespace = named.get("namespace") or ""
            if namespace:
                found += checks.each(names.dns_label(namespace), f"{where}.namespace", namespace)
            else:
                text = "must specify namespace for service account"
                found.append(required(f"{where}.namespace", text))
    for other, other_key in _SUBJECTS.items():
        if other != kind and subject.get(other_key) is not None:
            text = f"{other_key} is forbidden when subject kind is not '{other}'"
            found.append(forbidden(f"{field}.{other_key}", text))
    return found


def _rule(rule: Tree, field: str) -> list[Violation]:
    subjects = rule.get("subjects") or []
    found: list[Violation] = []
    if not subjects:
        text = "subjects must contain at least one value"
        found.append(required(f"{field}.subjects", text))
    for index, subject in enumerate(subjects):
        found += _subject(subject, f"{field}.subjects[{index}]")
    resources, urls = rule.get("resourceRules") or [], rule.get("nonResourceRules") or []
    if not resources and not urls:
        text = "at least one of resourceRules and nonResourceRules has to be non-empty"
        found.append(required(field, text))
    for index, each in enumerate(resources):
        found += _resource_rule(each, f"{field}.resourceRules[{index}]")
    for index, each in enumerate(urls):
        found += _url_rule(each, f"{field}.nonResourceRules[{index}]")
    return found


def _validate_schema(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    precedence, where = spec.get("matchingPrecedence") or 0, "spec.matchingPrecedence"
    found: list[Violation] = []
    if precedence <= 0:
        found.append(invalid(where, precedence, "must be a positive value"))
    if precedence > _HIGHEST_PRECEDENCE:
        text = f"must not be greater than {_HIGHEST_PRECEDENCE}"
        found.append(invalid(where, precedence, text))
    if precedence == 1 and checks.name_cell(tree) != _EXEMPT:
        text = "only the schema named 'exempt' may have matchingPrecedence 1"
        found.append(invalid(where, precedence, text))
    method = spec.get("distinguisherMethod")
    if method is not None:
        shown = {"Type": method.get("type") or ""}
        allowed = ["ByNamespace", "ByUser"]
        found += checks.one_of(method.get("type"), "spec.distinguisherMethod.type", allowed, shown)
    level = dig(spec, "priorityLevelConfiguration", "name") or ""
    where = "spec.priorityLevelConfiguration.name"
    if level:
        found += checks.each(names.dns_subdomain(level), where, level)
    else:
        found.append(required(where, "must reference a priority level"))
    for index, rule in enumerate(spec.get("rules") or ()):
        found += _rule(rule, f"spec.rules[{index}]")
    return found


def _schema_cells(tree: Tree, now: float) -> list[Any]:
    spec = tree.get("spec") or {}
    dangling = next(
        (
            condition.get("status") or ""
            for condition in dig(tree, "status", "conditions") or ()
            if condition.get("type") == "Dangling"
        ),
        "?",
    )
    return [
        checks.name_cell(tree),
        dig(spec, "priorityLevelConfiguration", "name") or "",
        spec.get("matchingPrecedence") or 0,
        dig(spec, "distinguisherMethod", "type") or "<none>",
        checks.age_cell(tree, now),
        dangling,
    ]


def _default_level(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    for key, shares in (("exempt", 0), ("limited", _DEFAULT_SHARES)):
        part = spec.get(key)
        if part is None:
            continue
        for field, value in (("nominalConcurrencyShares", shares), ("lendablePercent", 0)):
            if part.get(field) is None:
                part[field] = value
    queuing = dig(spec, "limited", "limitResponse", "queuing")
    if queuing is not None:
        for field, value in _DEFAULT_QUEUING.items():
            queuing[field] = queuing.get(field) or value


def _shares(part: Tree, field: str) -> list[Violation]:
    shares = part.get("nominalConcurrencyShares") or 0
    if shares >= 0:
        return []
    where = f"{field}.nominalConcurrencyShares"
    return [invalid(where, shares, "must be a non-negative integer")]


def _lendable(part: Tree, field: str) -> list[Violation]:
    percent = part.get("lendablePercent") or 0
    if 0 <= percent <= 100:
        return []
    return [invalid(f"{field}.lendablePercent", percent, names.not_between(0, 100))]


def _entropy_bits(queues: int, hand: int) -> int:
    """Return how many bits of a hash it takes to deal a hand of queues."""
    return math.ceil(math.log2(queues) * hand)


def _queuing(queuing: Tree, field: str) -> list[Violation]:
    queues, hand, length = (
        queuing.get(key) or 0 for key in ("queues", "handSize", "queueLengthLimit")
    )
    found: list[Violation] = []
    if length <= 0:
        found.append(invalid(f"{field}.queueLengthLimit", length, "must be positive"))
    if queues <= 0:
        found.append(invalid(f"{field}.queues", queues, "must be positive"))
    elif queues > _MOST_QUEUES:
        text = f"must not be greater than {_MOST_QUEUES}"
        found.append(invalid(f"{field}.queues", queues, text))
    where = f"{field}.handSize"
    if hand <= 0:
        found.append(invalid(where, hand, "must be positive"))
    elif hand > queues:
        text = f"should not be greater than queues ({queues})"
        found.append(invalid(where, hand, text))
    elif _entropy_bits(queues, hand) > _MOST_ENTROPY_BITS:
        text = f"required entropy bits of deckSize {queues} and handSize {hand} should not be"
        found.append(invalid(where, hand, f"{text} greater than {_MOST_ENTROPY_BITS}"))
    return found


def _limit_response(response: Tree) -> list[Violation]:
    kind, queuing = response.get("type") or "", response.get("queuing")
    where = f"{_LIMITED}.limitResponse"
    if kind == "Reject":
        if queuing is None:
            return []
        text = "must be nil if limited.limitResponse.type is not Limited"
        return [forbidden(f"{where}.queuing", text)]
    if kind == "Queue":
        if queuing is None:
            text = "must not be empty if limited.limitResponse.type is Limited"
            return [required(f"{where}.queuing", text)]
        return _queuing(queuing, f"{where}.queuing")
    return checks.one_of_needed(kind, f"{where}.type", ["Queue", "Reject"])


def _validate_limited(limited: Tree) -> list[Violation]:
    found = _shares(limited, _LIMITED)
    found += _limit_response(limited.get("limitResponse") or {})
    found += _lendable(limited, _LIMITED)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        text = "if specified, must be a non-negative integer"
        found.append(invalid(f"{_LIMITED}.borrowingLimitPercent", borrowing, text))
    return found


def _validate_level(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    kind, limited, exempt = spec.get("type") or "", spec.get("limited"), spec.get("exempt")
    found: list[Violation] = []
    if (checks.name_cell(tree) == _EXEMPT) != (kind == "Exempt"):
        text = "must be 'Exempt' if and only if `name` is 'exempt'"
        found.append(invalid("spec.type", kind, text))
    if kind == "Exempt":
        if limited is not None:
            text = "must be nil if the type is not Limited"
            found.append(forbidden(_LIMITED, text))
        if exempt is not None:
            found += _shares(exempt, "spec.exempt") + _lendable(exempt, "spec.exempt")
    elif kind == "Limited":
        if exempt is not None:
            found.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
        if limited is None:
            found.append(required(_LIMITED, "must not be empty when type is Limited"))
        else:
            found += _validate_limited(limited)
    else:
        found += checks.one_of_needed(kind, "spec.type", ["Exempt", "Limited"])
    return found


def _level_cells(tree: Tree, now: float) -> list[Any]:
    limited = dig(tree, "spec", "limited") or {}
    queuing = dig(limited, "limitResponse", "queuing") or {}
    return [
        checks.name_cell(tree),
        dig(tree, "spec", "type") or "",
        limited.get("nominalConcurrencyShares", "<none>"),
        *(queuing.get(key, "<none>") for key in ("queues", "handSize", "queueLengthLimit")),
        checks.age_cell(tree, now),
    ]


FLOW_SCHEMA: Final = Rules(
    default=_default_schema,
    prepare_create=checks.without_status(),
    prepare_update=checks.keep_status,
    validate_create=_validate_schema,
    validate_update=lambda new, _: _validate_schema(new),
    cells=_schema_cells,
)
PRIORITY_LEVEL: Final = Rules(
    default=_default_level,
    prepare_create=checks.without_status(),
    prepare_update=checks.keep_status,
    validate_create=_validate_level,
    validate_update=lambda new, _: _validate_level(new),
    cells=_level_cells,
)
_GROUP: Final = "flowcontrol.apiserver.k8s.io"
DECLARATIONS: Final = {
    f"flowschemas.{_GROUP}": Declared(generation="spec", rules=FLOW_SCHEMA),
    f"prioritylevelconfigurations.{_GROUP}": Declared(generation="spec", rules=PRIORITY_LEVEL),
}
