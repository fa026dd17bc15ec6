"""Certificate signing requests: someone asks for a certificate, someone else approves.

Who asks is no matter of the request's body: the API server calls ``set_requester`` first.
Source: certificates.k8s.io/v1 of v1.36.3.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from windtunnel.kinds.rules import checks
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery import names
from windtunnel.machinery.age import short_duration
from windtunnel.machinery.timestamp import time_text
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    show,
    too_long,
)

_USAGES: Final = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
]
_DECISIONS: Final = ("Approved", "Denied")
_FINAL: Final = (*_DECISIONS, "Failed")
_SHORTEST_SECONDS: Final = 600
_LONGEST_DOMAIN: Final = 253
_LONGEST_SIGNER: Final = 571
"""A resource name of 253, a dot, a namespace of 63, a slash, and a domain of 253."""
_SIGNER_FORM: Final = (
    "must be a fully qualified domain and path of the form 'example.com/signer-name'"
)
_LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
_REQUEST: Final = "PEM block type must be CERTIFICATE REQUEST"
_EXCLUSIVE: Final = "Approved and Denied conditions are mutually exclusive"


def set_requester(
    tree: Tree,
    username: str,
    uid: str,
    groups: Sequence[str],
    extra: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write who asks into a new request, in place of whatever its body says."""
    spec = tree.setdefault("spec", {})
    for key in ("username", "uid", "groups", "extra"):
        spec.pop(key, None)
    said: Tree = {"username": username, "uid": uid, "groups": list(groups)}
    if extra:
        said["extra"] = {key: list(values) for key, values in extra.items()}
    spec.update({key: value for key, value in said.items() if value})


def _prepare_update(new: Tree, old: Tree, _: Context) -> None:
    for key in ("spec", "status"):
        checks.restore(new, old, key)


def _conditions(tree: Tree) -> list[Tree]:
    return dig(tree, "status", "conditions") or []


def stamp_conditions(new: Tree, old: Tree, context: Context) -> None:
    """Give conditions their times: of the update, and of the last change of their status."""
    before = {condition.get("type"): condition for condition in _conditions(old)}
    now = time_text(context.now)
    for condition in _conditions(new):
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        known = before.get(condition.get("type"))
        if not condition.get("lastTransitionTime"):
            same = known is not None and known.get("status") == condition.get("status")
            stamp = known.get("lastTransitionTime") if known is not None and same else None
            condition["lastTransitionTime"] = stamp or now


def _prepare_status(new: Tree, old: Tree, context: Context) -> None:
    stamp_conditions(new, old, context)


def _validate_request(text: str) -> list[Violation]:
    try:
        pem = base64.b64decode(text, validate=True).decode("ascii", "replace")
    except (binascii.Error, ValueError):
        pem = ""
    if re.search(r"-----BEGIN (NEW )?CERTIFICATE REQUEST-----", pem):
        return []
    return [invalid("spec.request", text, _REQUEST)]


def _validate_signer(name: str) -> list[Violation]:
    where = "spec.signerName"
    if not name:
        return [required(where)]
    if name == _LEGACY_SIGNER:
        text = "the legacy signerName is not allowed via this API version"
        return [invalid(where, name, text)]
    domain, slash, path = name.partition("/")
    if not slash or "/" in path:
        return [invalid(where, name, _SIGNER_FORM)]
    found = [too_long(where, _LONGEST_DOMAIN)] if len(domain) > _LONGEST_DOMAIN else []
    found += _first_bad_label(domain, names.dns_label)
    if "." not in domain:
        text = "should be a domain with at least two segments separated by dots"
        found.append(invalid(where, domain, text))
    found += _first_bad_label(path, names.dns_subdomain)
    if len(name) > _LONGEST_SIGNER:
        found.append(too_long(where, _LONGEST_SIGNER))
    return found


def _first_bad_label(text: str, rule: Callable[[str], list[str]]) -> list[Violation]:
    """Judge labels up to the first bad one; more would only repeat the words."""
    for label in text.split("."):
        wrong = rule(label)
        if wrong:
            texts = [f"validating label {show(label)}: {problem}" for problem in wrong]
            return checks.each(texts, "spec.signerName", text)
    return []


def _validate_conditions(tree: Tree) -> list[Violation]:
    found: list[Violation] = []
    seen: set[str] = set()
    for index, condition in enumerate(_conditions(tree)):
        where, kind = f"status.conditions[{index}]", condition.get("type") or ""
        if not kind:
            found.append(required(f"{where}.type"))
        allowed = ["True"] if kind in _FINAL else ["False", "True", "Unknown"]
        found += checks.one_of_needed(condition.get("status"), f"{where}.status", allowed)
        if kind in _DECISIONS and any(other in seen for other in _DECISIONS if other != kind):
            found.append(invalid("status.conditions", kind, _EXCLUSIVE))
        if kind in seen:
            found.append(duplicate(f"{where}.type", kind))
        seen.add(kind)
    return found


def _validate(tree: Tree) -> list[Violation]:
    spec = tree.get("spec") or {}
    usages, seconds = spec.get("usages") or [], spec.get("expirationSeconds")
    found = _validate_request(spec.get("request") or "")
    if not usages:
        found.append(required("spec.usages"))
    for index, usage in enumerate(usages):
        if usage not in _USAGES:
            found.append(not_supported(f"spec.usages[{index}]", usage, _USAGES))
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            found.append(duplicate(f"spec.usages[{index}]", usage))
    found += _validate_signer(spec.get("signerName") or "")
    if seconds is not None and seconds < _SHORTEST_SECONDS:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        found.append(invalid("spec.expirationSeconds", seconds, text))
    return found + _validate_conditions(tree)


def _of_type(tree: Tree, kind: str) -> list[Tree]:
    return [condition for condition in _conditions(tree) if condition.get("type") == kind]


def _validate_change(
    new: Tree, old: Tree, *, may_decide: bool, may_certify: bool
) -> list[Violation]:
    where = "status.conditions"
    found = _validate(new)
    for kind in _FINAL:
        if len(_of_type(new, kind)) < len(_of_type(old, kind)):
            text = f'updates may not remove a condition of type "{kind}"'
            found.append(forbidden(where, text))
    for kind in () if may_decide else _DECISIONS:
        now, before = _of_type(new, kind), _of_type(old, kind)
        if len(now) > len(before):
            text = f'updates may not add a condition of type "{kind}"'
            found.append(forbidden(where, text))
        elif len(now) == len(before) and now != before:
            text = f'updates may not modify a condition of type "{kind}"'
            found.append(forbidden(where, text))
    certificate = dig(new, "status", "certificate") or ""
    known = dig(old, "status", "certificate") or ""
    if certificate != known:
        if not may_certify:
            text = "updates may not set certificate content"
            found.append(forbidden("status.certificate", text))
        elif known:
            text = "updates may not modify existing certificate content"
            found.append(forbidden("status.certificate", text))
    return found


def validate_approval(new: Tree, old: Tree) -> list[Violation]:
    """Judge a write to the ``approval`` subresource, the only one that may decide."""
    return _validate_change(new, old, may_decide=True, may_certify=False)


def _status_cell(tree: Tree) -> str:
    kinds = {condition.get("type") for condition in _conditions(tree)}
    status = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    if "Failed" in kinds:
        status += ",Failed"
    return f"{status},Issued" if dig(tree, "status", "certificate") else status


def _cells(tree: Tree, now: float) -> list[Any]:
    spec = tree.get("spec") or {}
    seconds = spec.get("expirationSeconds")
    return [
        checks.name_cell(tree),
        checks.age_cell(tree, now),
        spec.get("signerName") or "<none>",
        spec.get("username") or "",
        "<none>" if seconds is None else short_duration(seconds),
        _status_cell(tree),
    ]


RULES: Final = Rules(
    prepare_create=checks.without_status(),
    prepare_update=_prepare_update,
    prepare_status=_prepare_status,
    validate_create=_validate,
    validate_update=lambda new, old: _validate_change(
        new, old, may_decide=False, may_certify=False
    ),
    validate_status=lambda new, old: _validate_change(new, old, may_decide=False, may_certify=True),
    selectable=lambda tree: {"spec.signerName": dig(tree, "spec", "signerName") or ""},
    cells=_cells,
)
DECLARATIONS: Final = {
    "certificatesigningrequests.certificates.k8s.io": Declared(
        field_labels=frozenset({"spec.signerName"}), rules=RULES
    )
}
