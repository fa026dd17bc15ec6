"""Custom resource definitions: kinds declared at run time.

What versions have in common is judged once, as ``spec.validation`` and its like, where the real
server's internal form has it; only what differs is judged version by version. The schemas
themselves are judged by ``machinery.schema``. Source: apiextensions.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.extension.admissionpolicies import mixed_case_problem
from windtunnel.kinds.extension.definition_versions import (
    _PRESERVE,
    _shared,
    _validate_parts,
    validate_versions,
)
from windtunnel.kinds.extension.webhook_clients import (
    default_service,
    validate_client,
    validate_review_versions,
)
from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    forbidden,
    invalid,
    not_supported,
    required,
)

_APPROVAL: Final = "api-approved.kubernetes.io"
_APPROVAL_HELP: Final = (
    f'protected groups must have approval annotation "{_APPROVAL}", see'
    " https://github.com/kubernetes/enhancements/pull/1111"
)
_CONVERSION: Final = "spec.conversion"


def _default(tree: Tree) -> None:
    spec = tree.setdefault("spec", {})
    named = spec.setdefault("names", {})
    kind = named.get("kind") or ""
    if not named.get("singular") and kind:
        named["singular"] = kind.lower()
    if not named.get("listKind") and kind:
        named["listKind"] = f"{kind}List"
    conversion = spec.get("conversion")
    if conversion is None:
        spec["conversion"] = {"strategy": "None"}
    else:
        default_service(dig(conversion, "webhook", "clientConfig"))


def storage_version(tree: Tree) -> str:
    """Return the version in which objects of this kind are stored; "" where there is none."""
    for version in dig(tree, "spec", "versions") or ():
        if version.get("storage"):
            return version.get("name") or ""
    return ""


def _note_stored(tree: Tree) -> None:
    stored = tree["status"].get("storedVersions") or []
    current = storage_version(tree)
    if current and current not in stored:
        tree["status"]["storedVersions"] = [*stored, current]


def _prepare_create(tree: Tree, _: Context) -> None:
    tree["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": None,
    }
    _note_stored(tree)


def _prepare_update(new: Tree, old: Tree, context: Context) -> None:
    checks.keep_status(new, old, context)
    new["status"] = dict(new.get("status") or {})
    _note_stored(new)


def _validate_group(group: str) -> list[Violation]:
    if not group:
        return [required("spec.group")]
    found = checks.joined(group, "spec.group", names.dns_subdomain(group))
    if not found and "." not in group:
        found = [invalid("spec.group", group, "should be a domain with at least one dot")]
    return found


def _validate_names(named: Tree, field: str, *, complete: bool) -> list[Violation]:
    found: list[Violation] = []
    if complete:
        for key in ("plural", "singular", "kind", "listKind"):
            if not named.get(key):
                found.append(required(f"{field}.{key}"))
    for key in ("plural", "singular"):
        value = named.get(key) or ""
        if value:
            found += checks.joined(value, f"{field}.{key}", names.dns_1035_label(value))
    for key in ("kind", "listKind"):
        value = named.get(key) or ""
        if value and names.dns_1035_label(value.lower()):
            found.append(invalid(f"{field}.{key}", value, mixed_case_problem(value)))
    for index, name in enumerate(named.get("shortNames") or ()):
        found += checks.joined(name, f"{field}.shortNames[{index}]", names.dns_1035_label(name))
    if named.get("kind") and named["kind"] == named.get("listKind"):
        text = "kind and listKind may not be the same"
        found.append(invalid(f"{field}.listKind", named["listKind"], text))
    for index, name in enumerate(named.get("categories") or ()):
        found += checks.joined(name, f"{field}.categories[{index}]", names.dns_1035_label(name))
    return found


def _validate_conversion(conversion: Tree | None) -> list[Violation]:
    if conversion is None:
        return []
    strategy, webhook = conversion.get("strategy") or "", conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    client_field = f"{_CONVERSION}.webhookClientConfig"
    reviews_field = f"{_CONVERSION}.conversionReviewVersions"
    found: list[Violation] = []
    if not strategy:
        found.append(required(f"{_CONVERSION}.strategy"))
    elif strategy not in ("None", "Webhook"):
        found.append(not_supported(f"{_CONVERSION}.strategy", strategy, ["None", "Webhook"]))
    if strategy == "Webhook":
        if client is None:
            text = "required when strategy is set to Webhook"
            found.append(required(client_field, text))
        else:
            found += validate_client(client, client_field)
        if not reviews:
            return [*found, required(reviews_field)]
        return found + validate_review_versions(reviews, reviews_field)
    text = "should not be set when strategy is not set to Webhook"
    if client is not None:
        found.append(forbidden(client_field, text))
    if reviews:
        found.append(forbidden(reviews_field, text))
    return found


def _validate_spec(spec: Tree) -> list[Violation]:
    found = _validate_group(spec.get("group") or "")
    found += checks.one_of_needed(spec.get("scope"), "spec.scope", ["Cluster", "Namespaced"])
    found += validate_versions(spec)
    found += _validate_names(spec.get("names") or {}, "spec.names", complete=True)
    shared = _shared(spec.get("versions") or [])
    found += _validate_parts(shared, "spec", "spec.validation")
    return found + _validate_conversion(spec.get("conversion"))


def _validate_stored(tree: Tree) -> list[Violation]:
    stored = dig(tree, "status", "storedVersions") or []
    where = "status.storedVersions"
    if not stored:
        return [invalid(where, None, "must have at least one stored version")]
    versions = dig(tree, "spec", "versions") or []
    found = [
        invalid(where, stored, f"must have the storage version {version.get('name')}")
        for version in versions
        if version.get("storage") and version.get("name") not in stored
    ]
    known = {version.get("name") for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must"
                " remain in spec.versions until a storage migration ensures no data remains"
                f" persisted in {name} and removes {name} from status.storedVersions"
            )
            found.append(invalid(f"{where}[{index}]", name, text))
    return found


def _approval_problem(tree: Tree) -> str:
    """Return what is missing for a group that belongs to the Kubernetes project; "" for nothing."""
    group = dig(tree, "spec", "group") or ""
    if not group.endswith((".k8s.io", ".kubernetes.io")):
        return ""
    value = dig(tree, "metadata", "annotations", _APPROVAL)
    if not value:
        return _APPROVAL_HELP
    if value.startswith(("unapproved", "https://", "http://")):
        return ""
    return (
        f'protected groups must have approval annotation "{_APPROVAL}" with either a URL or a'
        ' reason starting with "unapproved", see'
        " https://github.com/kubernetes/enhancements/pull/1111"
    )


def _validate_approval(new: Tree, old: Tree | None) -> list[Violation]:
    problem = _approval_problem(new)
    if not problem or (old is not None and _approval_problem(old) == problem):
        return []
    where = f"metadata.annotations[{_APPROVAL}]"
    value = dig(new, "metadata", "annotations", _APPROVAL)
    return [invalid(where, value, problem)] if value else [required(where, problem)]


def _validate_rest(new: Tree, old: Tree | None) -> list[Violation]:
    accepted = dig(new, "status", "acceptedNames") or {}
    found = _validate_names(accepted, "status.acceptedNames", complete=False)
    found += _validate_stored(new) + _validate_approval(new, old)
    kept = old is not None and dig(old, "spec", "preserveUnknownFields")
    if dig(new, "spec", "preserveUnknownFields") and not kept:
        found.append(invalid("spec.preserveUnknownFields", True, _PRESERVE))
    return found


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    name = checks.name_cell(tree)
    found: list[Violation] = []
    if name != f"{dig(spec, 'names', 'plural') or ''}.{spec.get('group') or ''}":
        text = 'must be spec.names.plural+"."+spec.group'
        found.append(invalid("metadata.name", name, text))
    return found + _validate_spec(spec) + _validate_rest(tree, None)


def is_established(tree: Tree) -> bool:
    """Say whether objects of this kind are served."""
    return any(
        condition.get("type") == "Established" and condition.get("status") == "True"
        for condition in dig(tree, "status", "conditions") or ()
    )


def _validate_update(new: Tree, old: Tree) -> list[Violation]:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    found = _validate_spec(spec)
    fixed: tuple[tuple[str, ...], ...] = (("group",), ("names", "plural"))
    if is_established(old):
        fixed = (("scope",), ("names", "kind"), *fixed)
    for path in fixed:
        found += checks.immutable(dig(spec, *path), dig(before, *path), "spec." + ".".join(path))
    return found + _validate_rest(new, old)


def _validate_status(new: Tree, _: Tree) -> list[Violation]:
    accepted = dig(new, "status", "acceptedNames") or {}
    return _validate_names(accepted, "status.acceptedNames", complete=False)


RULES: Final = Rules(
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    validate_create=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    cells=checks.name_and_stamp,
)
DECLARATIONS: Final = {
    "customresourcedefinitions.apiextensions.k8s.io": Declared(
        generation="spec", needs_revision_on_put=True, delete_answer="object", rules=RULES
    )
}
