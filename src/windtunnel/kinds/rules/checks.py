"""Small judgements and table cells that many kinds share, so that each says only what is its own.

Messages are the real server's (v1.36.3). Where it prints an internal struct it prints Go's names of
the fields; ``go_value`` does the same for the fields that are set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from windtunnel.kinds.served.kind import Context
from windtunnel.machinery import names
from windtunnel.machinery.age import age
from windtunnel.machinery.selectors import LabelSelector, MalformedSelector, validate_label_selector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

NOT_NEGATIVE: Final = "must be greater than or equal to 0"
IMMUTABLE: Final = "field is immutable"
MISMATCH: Final = "`selector` does not match template `labels`"
LABEL_IN_NAME: Final = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising"
    " behavior; a DNS label is recommended: "
)
_VERBATIM: Final = frozenset(
    {"labels", "annotations", "matchLabels", "nodeSelector", "data", "parameters"}
)
"""Maps whose keys are the user's own, not field names."""
_INITIALS: Final = {"Api": "API", "Uid": "UID", "Cidrs": "CIDRs", "NodeID": "NodeID", "Dns": "DNS"}


def unshown(field: str, detail: str) -> Violation:
    """The value breaks a rule but is too large or too secret to be printed."""
    return Violation(field, "FieldValueInvalid", f"Invalid value: {detail}")


def internal(field: str, why: str) -> Violation:
    """The value cannot even be judged."""
    return Violation(field, "InternalError", f"Internal error: {why}")


def each(texts: Sequence[str], field: str, value: Any) -> list[Violation]:
    """Turn what a name rule said into violations of ``field``."""
    return [invalid(field, value, text) for text in texts]


def joined(value: str, field: str, texts: Sequence[str]) -> list[Violation]:
    """Turn all that a name rule said into one violation of ``field``."""
    return [invalid(field, value, ",".join(texts))] if texts else []


def named(value: str | None, field: str, rule: Callable[[str], list[str]]) -> list[Violation]:
    """The value must be there and pass the rule."""
    return each(rule(value), field, value) if value else [required(field)]


def not_negative(value: Any, field: str) -> list[Violation]:
    """A number that is given must not be below zero."""
    if value is None or value >= 0:
        return []
    return [invalid(field, value, NOT_NEGATIVE)]


def none_negative(tree: Mapping[str, Any], field: str, *keys: str) -> list[Violation]:
    """None of these numbers may be below zero."""
    return [found for key in keys for found in not_negative(tree.get(key), f"{field}.{key}")]


def immutable(new: Any, old: Any, field: str, shown: Any = None) -> list[Violation]:
    """A field that may never change once it is set."""
    return (
        [] if new == old else [invalid(field, by_key(new) if shown is None else shown, IMMUTABLE)]
    )


def one_of(value: Any, field: str, allowed: Sequence[str], shown: Any = None) -> list[Violation]:
    """The value must be one of a few."""
    if value in allowed:
        return []
    return [not_supported(field, value if shown is None else shown, list(allowed))]


def one_of_needed(value: Any, field: str, allowed: Sequence[str]) -> list[Violation]:
    """The value must be there and one of a few."""
    return one_of(value, field, allowed) if value else [required(field)]


def int_or_percent(value: Any, field: str) -> list[Violation]:
    """A count that is not negative, or a percentage."""
    if isinstance(value, str):
        return each(names.percent(value), field, value)
    return not_negative(value, field)


def at_most_all(value: Any, field: str) -> list[Violation]:
    """A percentage must not exceed 100%."""
    if isinstance(value, str) and amount(value) > 100:
        return [invalid(field, value, "must not be greater than 100%")]
    return []


def amount(value: Any) -> int:
    """Return the number in a count or percentage; 0 where there is none, or one beyond 64 bits."""
    if isinstance(value, str):
        digits = value[:-1].lstrip("0")
        return int(digits or "0") if not names.percent(value) and len(digits) < 19 else 0
    return int(value or 0)


def go_value(value: Any) -> Any:
    """Return a tree with its field names as Go spells them."""
    if isinstance(value, list):
        return [go_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        _go_name(key): item if key in _VERBATIM else go_value(item) for key, item in value.items()
    }


def _go_name(key: str) -> str:
    name = key[:1].upper() + key[1:]
    for plain, shouted in _INITIALS.items():
        if name.startswith(plain):
            return shouted + name[len(plain) :]
    return name


def by_key(value: Any) -> Any:
    """Return a tree with the user's own maps in order of their keys, as Go prints maps."""
    if not isinstance(value, dict):
        return value
    return {
        key: dict(sorted(item.items())) if key in _VERBATIM and isinstance(item, dict) else item
        for key, item in value.items()
    }


def domain_prefixed_path(value: str, field: str) -> list[Violation]:
    """The value must look like ``acme.io/foo``."""
    domain, slash, path = value.partition("/")
    if not value:
        return [required(field)]
    if not slash or not domain or not path:
        text = 'must be a domain-prefixed path (such as "acme.io/foo")'
        return [invalid(field, value, text)]
    found = each(names.dns_subdomain(domain), field, domain)
    return found + each(names.http_path(path), field, path)


def selector_and_template(
    spec: Tree,
    field: str,
    validate_template: Callable[[Tree], list[Violation]],
    *,
    empty: str,
) -> list[Violation]:
    """A workload's selector must be sound, not empty, and select its own template."""
    selector = spec.get("selector")
    where = f"{field}.selector"
    if selector is None:
        found = [required(where)]
    else:
        found = validate_label_selector(selector, where)
        if found:
            return [*found, invalid(where, by_key(selector), "invalid label selector")]
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            found = [invalid(where, selector, f"empty selector is invalid for {empty}")]
    template = spec.get("template") or {}
    return [*found, *selects(selector, template, f"{field}.template"), *validate_template(template)]


def selects(selector: Tree | None, template: Tree, field: str) -> list[Violation]:
    """The selector must match the template's labels (an empty one matches everything)."""
    labels = dig(template, "metadata", "labels")
    try:
        if LabelSelector.from_tree(selector).matches(labels):
            return []
    except MalformedSelector:
        return []
    shown = None if labels is None else dict(sorted(labels.items()))
    return [invalid(f"{field}.metadata.labels", shown, MISMATCH)]


def always_restarts(template: Tree, field: str, kind: str) -> list[Violation]:
    """Pods of long-running workloads restart for ever."""
    spec = template.get("spec") or {}
    found: list[Violation] = []
    policy = spec.get("restartPolicy", "Always")
    if policy != "Always":
        found.append(not_supported(f"{field}.spec.restartPolicy", policy, ["Always"]))
    if spec.get("activeDeadlineSeconds") is not None:
        where = f"{field}.spec.activeDeadlineSeconds"
        found.append(forbidden(where, f"activeDeadlineSeconds in {kind} is not Supported"))
    return found


def not_more_than(tree: Tree, field: str, key: str, limit: str, said: str) -> list[Violation]:
    """One counter may not exceed another; both count as 0 where they are absent."""
    value = tree.get(key) or 0
    if value <= (tree.get(limit) or 0):
        return []
    return [invalid(f"{field}.{key}", value, f"cannot be greater than {said}")]


def never_fewer_collisions(new: Tree, old: Tree) -> list[Violation]:
    """The count of hash collisions never shrinks."""
    count, before = dig(new, "status", "collisionCount"), dig(old, "status", "collisionCount")
    if before is None or (count is not None and count >= before):
        return []
    return [invalid("status.collisionCount", count or 0, "cannot be decremented")]


def name_warnings(tree: Tree) -> list[str]:
    """Warn of a name that makes no good host name."""
    texts = names.dns_label(dig(tree, "metadata", "name") or "")
    return [f"{LABEL_IN_NAME}[{' '.join(texts)}]"] if texts else []


def without_status(empty: Callable[[], Tree] = dict) -> Callable[[Tree, Context], None]:
    """Return a create rule that forgets what the user says of the status."""

    def prepare(tree: Tree, _: Context) -> None:
        tree["status"] = empty()

    return prepare


def keep_status(new: Tree, old: Tree, _: Context) -> None:
    """Keep the old status: only the status subresource writes it."""
    restore(new, old, "status")


def restore(new: Tree, old: Tree, key: str) -> None:
    """Give ``new`` what ``old`` has under ``key``."""
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)


def keep_alike(tree: Tree, one: str, many: str, entry: Callable[[str], Any]) -> None:
    """Keep an address and the list that begins with it alike; the single one decides."""
    value, listed = tree.get(one), tree.get(many)
    if value:
        if not listed or listed[0] != entry(value):
            tree[many] = [entry(value)]
    elif listed:
        first = listed[0]
        tree[one] = first if isinstance(first, str) else first.get("ip", "")


def name_cell(tree: Tree) -> str:
    """Return the name."""
    return dig(tree, "metadata", "name") or ""


def age_cell(tree: Tree, now: float) -> str:
    """Return the time since creation as tables print it."""
    return age(dig(tree, "metadata", "creationTimestamp"), now)


def name_and_age(tree: Tree, now: float) -> list[Any]:
    """Return the cells of a kind that has nothing else to show."""
    return [name_cell(tree), age_cell(tree, now)]


def name_and_stamp(tree: Tree, _: float) -> list[Any]:
    """Return the cells of a kind that shows when it was created, not how long ago."""
    return [name_cell(tree), dig(tree, "metadata", "creationTimestamp")]


def container_cells(template: Tree) -> list[Any]:
    """Return names and images of a template's containers."""
    containers = dig(template, "spec", "containers") or []
    return [
        ",".join(container.get("name") or "" for container in containers),
        ",".join(container.get("image") or "" for container in containers),
    ]


def selector_cell(selector: Tree | None) -> str:
    """Return a selector as tables print it."""
    try:
        chosen = LabelSelector.from_tree(selector)
    except MalformedSelector:
        return "<error>"
    if chosen.selects_nothing or chosen.empty:
        return "<none>"
    return str(chosen)
