"""Jobs: pods that run to completion.

A job that does not bring its own selector gets one from its uid, so ``metadata.uid`` must be set
before ``prepare_create``. Source: batch/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.pod.template import (
    default_template,
    drop_disabled,
    template_warnings,
    validate_template,
)
from windtunnel.kinds.rules import checks
from windtunnel.kinds.rules.checks import none_negative
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.kinds.workload.job_cells import job_cells
from windtunnel.kinds.workload.job_policies import (
    default_policies,
    validate_failure_policy,
    validate_success_policy,
)
from windtunnel.kinds.workload.job_status import validate_status
from windtunnel.kinds.workload.job_template import validate_template_update
from windtunnel.machinery import names
from windtunnel.machinery.selectors import LabelSelector, MalformedSelector, validate_label_selector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    invalid,
    not_supported,
    required,
    too_long,
)

_UID: Final = "batch.kubernetes.io/controller-uid"
_NAME: Final = "batch.kubernetes.io/job-name"
_OLD_UID: Final = "controller-uid"
_OLD_NAME: Final = "job-name"
_NO_LIMIT: Final = 2147483647
_MANY: Final = 100_000
_MANY_AT_ONCE: Final = 10_000
_LONGEST_MANAGED_BY: Final = 63


def default_spec(spec: Tree) -> None:
    """Fill in what every job has, given or made from a cron job's template."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
        spec["parallelism"] = 1
    spec.setdefault("parallelism", 1)
    per_index = spec.get("backoffLimitPerIndex") is not None
    spec.setdefault("backoffLimit", _NO_LIMIT if per_index else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    default_policies(spec)
    careful = spec.get("podFailurePolicy") is not None
    spec.setdefault("podReplacementPolicy", "Failed" if careful else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    template = spec.setdefault("template", {})
    default_spec(spec)
    default_template(template)
    drop_disabled(template["spec"])
    labels = dig(template, "metadata", "labels")
    metadata = tree.setdefault("metadata", {})
    if labels and not metadata.get("labels"):
        metadata["labels"] = dict(labels)


def _prepare_create(tree: Tree, _: Context) -> None:
    tree["status"] = {}
    spec, metadata = tree["spec"], tree["metadata"]
    if not spec.get("manualSelector"):
        uid, name = metadata.get("uid", ""), metadata.get("name", "")
        template = spec.setdefault("template", {}).setdefault("metadata", {})
        labels = dict(template.get("labels") or {})
        # Labels that the job only has from its template go on following it.
        # A name that is no label is refused below, and named once.
        follows = not metadata.get("labels") or metadata["labels"] == labels
        follows = follows and not names.label_value(name)
        template["labels"] = labels
        for key, value in ((_OLD_NAME, name), (_NAME, name), (_OLD_UID, uid), (_UID, uid)):
            labels.setdefault(key, value)
        selector = spec["selector"] = dict(spec.get("selector") or {})
        selector["matchLabels"] = {_UID: uid, **(selector.get("matchLabels") or {})}
        if follows:
            metadata["labels"] = dict(labels)


def _validate_generated(tree: Tree, *, prefixed: bool) -> list[Violation]:
    spec, metadata = tree.get("spec") or {}, tree.get("metadata") or {}
    if spec.get("manualSelector") or spec.get("selector") is None:
        return []
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    expected = {_OLD_UID: uid, _OLD_NAME: name}
    if prefixed:
        expected |= {_UID: uid, _NAME: name}
    labels = dig(spec, "template", "metadata", "labels") or {}
    found = []
    for key, value in expected.items():
        where = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            found.append(required(where, f"must be '{value}'"))
        elif labels[key] != value:
            found.append(invalid(where, dict(sorted(labels.items())), f"must be '{value}'"))
    try:
        matches = LabelSelector.from_tree(spec["selector"]).matches(expected)
    except MalformedSelector:
        matches = True
    if not matches:
        found.append(
            invalid(
                "spec.selector", checks.by_key(spec["selector"]), "`selector` not auto-generated"
            )
        )
    return found


def _at_most(spec: Tree, field: str, key: str, limit: int, when: str) -> list[Violation]:
    value = spec.get(key)
    if value is None or value <= limit:
        return []
    return [invalid(f"{field}.{key}", value, f"must be less than or equal to {limit}{when}")]


def _validate_indexed(spec: Tree, field: str) -> list[Violation]:
    completions, most_failed = spec.get("completions"), spec.get("maxFailedIndexes")
    found: list[Violation] = []
    if completions is None:
        found.append(required(f"{field}.completions", "when completion mode is Indexed"))
    found += _at_most(spec, field, "parallelism", _MANY, " when completion mode is Indexed")
    if completions is not None and most_failed is not None and most_failed > completions:
        text = "must be less than or equal to completions"
        found.append(invalid(f"{field}.maxFailedIndexes", most_failed, text))
    found += _at_most(spec, field, "maxFailedIndexes", _MANY, "")
    if (completions or 0) > _MANY and spec.get("backoffLimitPerIndex") is not None:
        if most_failed is None:
            text = f"must be specified when completions is above {_MANY}"
            found.append(required(f"{field}.maxFailedIndexes", text))
        when = f" when completions are above {_MANY} and used with backoff limit per index"
        for key in ("parallelism", "maxFailedIndexes"):
            found += _at_most(spec, field, key, _MANY_AT_ONCE, when)
    return found


def _validate_mode(spec: Tree, field: str) -> list[Violation]:
    mode = spec.get("completionMode")
    found: list[Violation] = []
    if mode is not None:
        found += checks.one_of(mode, f"{field}.completionMode", ["NonIndexed", "Indexed"])
    if mode == "Indexed":
        found += _validate_indexed(spec, field)
    elif mode in (None, "NonIndexed"):
        for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(key) is not None:
                text = "requires indexed completion mode"
                found.append(invalid(f"{field}.{key}", spec[key], text))
    return found


def _validate_replacement(spec: Tree, field: str) -> list[Violation]:
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return []
    allowed = ["Failed", "TerminatingOrFailed"]
    if spec.get("podFailurePolicy") is not None:
        allowed = ["Failed"]
    return checks.one_of(policy, f"{field}.podReplacementPolicy", allowed)


def _validate_restart(spec: Tree, field: str) -> list[Violation]:
    policy = dig(spec, "template", "spec", "restartPolicy") or "Always"
    where = f"{field}.template.spec.restartPolicy"
    if policy == "Always":
        return [required(where, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [not_supported(where, policy, ["OnFailure", "Never"])]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        text = 'only "Never" is supported when podFailurePolicy is specified'
        return [invalid(where, policy, text)]
    return []


def validate_template_spec(spec: Tree, field: str) -> list[Violation]:
    """Judge a job's spec but for its selector, as cron jobs need it."""
    found = none_negative(
        spec,
        field,
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    )
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        text = "when maxFailedIndexes is specified"
        found.append(required(f"{field}.backoffLimitPerIndex", text))
    managed_by = spec.get("managedBy")
    if managed_by is not None:
        found += checks.domain_prefixed_path(managed_by, f"{field}.managedBy")
        if len(managed_by) > _LONGEST_MANAGED_BY:
            found.append(too_long(f"{field}.managedBy", _LONGEST_MANAGED_BY))
    found += _validate_mode(spec, field)
    found += validate_failure_policy(spec, field)
    found += validate_success_policy(spec, field)
    found += _validate_replacement(spec, field)
    found += validate_template(spec.get("template") or {}, f"{field}.template")
    return found + _validate_restart(spec, field)


def _validate_spec(spec: Tree) -> list[Violation]:
    found = validate_template_spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        found.append(required("spec.selector"))
    else:
        found += validate_label_selector(selector, "spec.selector")
    return found + checks.selects(selector, spec.get("template") or {}, "spec.template")


def _validate(tree: Tree) -> list[Violation]:
    return _validate_whole(tree, prefixed=True)


def _validate_whole(tree: Tree, *, prefixed: bool) -> list[Violation]:
    spec = tree.get("spec") or {}
    found = _validate_generated(tree, prefixed=prefixed) + _validate_spec(spec)
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0:
        name = dig(tree, "metadata", "name") or ""
        last = f"{name}-{completions - 1}"
        if names.dns_label(last):
            text = f"will not able to create pod with invalid DNS label: {last}"
            found.append(invalid("metadata.name", name, text))
    return found


def _validate_completions(new: Tree, old: Tree) -> list[Violation]:
    count, before = new.get("completions"), old.get("completions")
    if new.get("completionMode") != "Indexed":
        return checks.immutable(count, before, "spec.completions")
    if count in (before, None) or count == new.get("parallelism"):
        return []
    text = "can only be modified in tandem with spec.parallelism"
    return [invalid("spec.completions", count, text)]


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    old_labels = dig(before, "template", "metadata", "labels") or {}
    found = _validate_whole(new, prefixed=_UID in old_labels and _NAME in old_labels)
    found += _validate_spec(spec) + _validate_completions(spec, before)
    found += checks.immutable(spec.get("selector"), before.get("selector"), "spec.selector")
    found += validate_template_update(new, old)
    for key in (
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ):
        value = spec.get(key)
        found += checks.immutable(value, before.get(key), f"spec.{key}", checks.go_value(value))
    return found


def spec_warnings(spec: Tree, field: str) -> list[str]:
    """Warn of what a job's spec may lead to."""
    found = []
    completions, parallelism = spec.get("completions") or 0, spec.get("parallelism") or 0
    indexed = spec.get("completionMode") == "Indexed"
    if indexed and completions > _MANY and parallelism > _MANY_AT_ONCE:
        found.append(
            f"{field}: In Indexed Jobs with a number of completions higher than 10^5 and a"
            " parallelism higher than 10^4, Kubernetes might not be able to track"
            " completedIndexes when a big number of indexes fail"
        )
    return found + template_warnings(spec.get("template") or {}, f"{field}.template")


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    spec = new.get("spec") or {}
    if old is None:
        return checks.name_warnings(new) + spec_warnings(spec, "spec")
    return [] if spec == old.get("spec") else spec_warnings(spec, "spec")


def _selectable(tree: Tree) -> dict[str, str]:
    return {"status.successful": str(dig(tree, "status", "succeeded") or 0)}


RULES: Final = Rules(
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=checks.keep_status,
    validate_create=_validate,
    validate_update=_validate_update,
    validate_status=validate_status,
    warnings=_warnings,
    selectable=_selectable,
    cells=job_cells,
)
DECLARATIONS: Final = {
    "jobs.batch": Declared(
        generation="spec",
        default_propagation="Orphan",
        field_labels=frozenset({"status.successful"}),
        unknown_field_label='field label "{label}" not supported for Job',
        rules=RULES,
    )
}
