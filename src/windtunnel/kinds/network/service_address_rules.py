"""What must hold of a service's cluster addresses, when it is made and when it changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from windtunnel.kinds.network.service_addresses import HEADLESS, is_headless
from windtunnel.kinds.rules.checks import each
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    duplicate,
    invalid,
    not_supported,
    required,
)

_FAMILY_POLICIES: Final = ["PreferDualStack", "RequireDualStack", "SingleStack"]
_SET_ONCE: Final = "may not change once set"


def validate_cluster_addresses(spec: Tree, before: Mapping[str, Any]) -> list[Violation]:
    """Judge the cluster addresses of a service and their families."""
    if spec.get("type") == "ExternalName":
        return []
    address, addresses = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    families, policy = spec.get("ipFamilies") or [], spec.get("ipFamilyPolicy")
    field = "spec.clusterIPs"
    found: list[Violation] = []
    if address and not addresses:
        found.append(required(field))
    elif address and addresses[0] != address:
        found.append(invalid(field, addresses, "first value must match `clusterIP`"))
    elif not address and addresses:
        text = "must be empty when `clusterIP` is not specified"
        found.append(invalid(field, addresses, text))
    for index, family in enumerate(families):
        where = f"spec.ipFamilies[{index}]"
        if family not in ("IPv4", "IPv6"):
            found.append(not_supported(where, family, ["IPv4", "IPv6"]))
        if family in families[:index]:
            found.append(duplicate(where, family))
    if policy is not None and policy not in _FAMILY_POLICIES:
        found.append(not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES))
    broken = False
    known = before.get("clusterIPs") or ()
    for index, value in enumerate(addresses):
        if index == 0 and value == HEADLESS:
            if len(addresses) > 1:
                broken = True
                text = "'None' must be the first and only value"
                found.append(invalid(field, addresses, text))
            continue
        if value not in known and (texts := names.ip_address(value)):
            broken = True
            found += each(texts, f"{field}[{index}]", value)
    if len(addresses) > 2:
        found.append(invalid(field, addresses, "may only hold up to 2 values"))
    if broken:
        return found
    return found + _matching_families(addresses, families, field)


def _matching_families(addresses: list[str], families: list[str], field: str) -> list[Violation]:
    found: list[Violation] = []
    if len(addresses) > 1 and len({":" in value for value in addresses}) < 2:
        text = "may specify no more than one IP for each IP family"
        found.append(invalid(field, addresses, text))
    if addresses == [HEADLESS]:
        return found
    for index, (value, family) in enumerate(zip(addresses, families, strict=False)):
        if (family == "IPv6") != (":" in value):
            text = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            found.append(invalid(f"{field}[{index}]", value, text))
    return found


def validate_address_changes(new: Tree, old: Tree) -> list[Violation]:
    """Judge a change of addresses: what was given stays."""
    if "ExternalName" in (new.get("type"), old.get("type")):
        return []
    found: list[Violation] = []
    was, now = is_headless(old), is_headless(new)
    if not (was and now):
        ours, theirs = new.get("clusterIPs") or [], old.get("clusterIPs") or []
        if len(ours) == len(theirs):
            found += [
                invalid(f"spec.clusterIPs[{index}]", ours, _SET_ONCE)
                for index, (after, before) in enumerate(zip(ours, theirs, strict=True))
                if after != before
            ]
        elif theirs and not ours:
            text = "primary clusterIP can not be unset"
            found.append(invalid("spec.clusterIPs[0]", new.get("clusterIPs"), text))
        elif theirs and ours[0] != theirs[0]:
            found.append(invalid("spec.clusterIPs[0]", ours, _SET_ONCE))
        found += _released(new, len(theirs) > len(ours) == 1, "secondary clusterIP")
    if was != now or now:
        return found
    ours, theirs = new.get("ipFamilies") or [], old.get("ipFamilies") or []
    if len(ours) == len(theirs):
        found += [
            invalid("spec.ipFamilies[0]", ours, _SET_ONCE)
            for after, before in zip(ours, theirs, strict=True)
            if after != before
        ]
    elif theirs and ours and ours[0] != theirs[0]:
        found.append(invalid("spec.ipFamilies[0]", new.get("clusterIPs"), _SET_ONCE))
    return found + _released(new, len(theirs) > len(ours) == 1, "secondary ipFamily")


def _released(spec: Tree, released: bool, what: str) -> list[Violation]:
    policy = spec.get("ipFamilyPolicy")
    if not released or policy == "SingleStack":
        return []
    text = f"must be set to 'SingleStack' when releasing the {what}"
    return [invalid("spec.ipFamilyPolicy", policy, text)]
