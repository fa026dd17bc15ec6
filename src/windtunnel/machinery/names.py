"""Names: what may be called what, in the exact words of the Kubernetes validation library.

Every rule takes a text and returns what is wrong with it, in words; an empty list means that it is
fine. A good name costs one regular expression. Source: k8s.io/apimachinery v1.36.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

NameRule = Callable[[str], list[str]]
"""Judges a name; returns what is wrong with it, in words, or nothing."""

SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Of which the server makes the random ends of names; they keep any name well-formed."""
SUFFIX_LENGTH: Final = 5

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = _LABEL + "(\\." + _LABEL + ")*"
_UNDERSCORE_LABEL: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORE_SUBDOMAIN: Final = _UNDERSCORE_LABEL + "(\\." + _UNDERSCORE_LABEL + ")*"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL_KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE: Final = "(" + _LABEL_KEY + ")?"
_WILDCARD: Final = "\\*\\." + _SUBDOMAIN
_C_IDENTIFIER: Final = "[A-Za-z_][A-Za-z0-9_]*"
_CONFIG_KEY: Final = "[-._a-zA-Z0-9]+"
_HEADER: Final = "[-A-Za-z0-9]+"
_PERCENT: Final = "[0-9]+%"
_HTTP_PATH: Final = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

_is_label = re.compile(_LABEL).fullmatch
_is_subdomain = re.compile(_SUBDOMAIN).fullmatch
_is_underscore_subdomain = re.compile(_UNDERSCORE_SUBDOMAIN).fullmatch
_is_label_1035 = re.compile(_LABEL_1035).fullmatch
_is_label_key = re.compile(_LABEL_KEY).fullmatch
_is_label_value = re.compile(_LABEL_VALUE).fullmatch
_is_wildcard = re.compile(_WILDCARD).fullmatch
_is_c_identifier = re.compile(_C_IDENTIFIER).fullmatch
_is_config_key = re.compile(_CONFIG_KEY).fullmatch
_is_header = re.compile(_HEADER).fullmatch
_is_percent = re.compile(_PERCENT).fullmatch
_is_http_path = re.compile(_HTTP_PATH).fullmatch
_is_port_charset = re.compile("[-a-z0-9]+").fullmatch
_has_letter = re.compile("[a-z]").search

EMPTY: Final = "must be non-empty"

_TEXT_SUBDOMAIN: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character"
)
_TEXT_UNDERSCORE: Final = _TEXT_SUBDOMAIN.replace("characters, '-'", "characters, '_', '-'")
_TEXT_LABEL: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and"
    " must start and end with an alphanumeric character"
)
_TEXT_LABEL_1035: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an"
    " alphabetic character, and end with an alphanumeric character"
)
_TEXT_WILDCARD: Final = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which"
    " must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric"
    " character"
)
_TEXT_LABEL_KEY: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    " alphanumeric character"
)
_TEXT_LABEL_VALUE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character"
)
_TEXT_C_IDENTIFIER: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of"
    " alphanumeric characters or '_'"
)
_TEXT_ENV: Final = (
    "a valid environment variable name must consist only of printable ASCII characters other"
    " than '='"
)


def pattern_text(text: str, pattern: str, *examples: str) -> str:
    """Return ``text`` followed by the examples and the pattern, as regex refusals are worded."""
    if not examples:
        return f"{text} (regex used for validation is '{pattern}')"
    shown = "  or ".join(f"'{example}'," for example in examples)
    return f"{text} (e.g. {shown} regex used for validation is '{pattern}')"


def longer_than(limit: int, unit: str = "characters") -> str:
    """Word the refusal of a text that is longer than ``limit``."""
    return f"must be no more than {limit} {unit}"


def not_between(low: int, high: int) -> str:
    """Word the refusal of a number outside a closed range."""
    return f"must be between {low} and {high}, inclusive"


@lru_cache(maxsize=8192)
def _subdomain(value: str, unit: str) -> tuple[str, ...]:
    wrong = [longer_than(253, unit)] if len(value.encode()) > 253 else []
    if not _is_subdomain(value):
        wrong.append(pattern_text(_TEXT_SUBDOMAIN, _SUBDOMAIN, "example.com"))
    return tuple(wrong)


def dns_subdomain(value: str) -> list[str]:
    """Judge a DNS subdomain (RFC 1123), the rule of most names."""
    if len(value) <= 253 and _is_subdomain(value):
        return []
    return list(_subdomain(value, "characters"))


def dns_subdomain_with_underscore(value: str) -> list[str]:
    """Judge a DNS subdomain that may contain underscores (search domains)."""
    wrong = [longer_than(253)] if len(value.encode()) > 253 else []
    if not _is_underscore_subdomain(value):
        wrong.append(pattern_text(_TEXT_UNDERSCORE, _UNDERSCORE_SUBDOMAIN, "example.com"))
    return wrong


def dns_label(value: str) -> list[str]:
    """Judge a DNS label (RFC 1123): namespaces, containers, volumes."""
    if len(value) <= 63 and _is_label(value):
        return []
    wrong = [longer_than(63)] if len(value.encode()) > 63 else []
    if not _is_label(value):
        if _is_subdomain(value):
            wrong.append("must not contain dots")
        else:
            wrong.append(pattern_text(_TEXT_LABEL, _LABEL, "my-name", "123-abc"))
    return wrong


def dns_1035_label(value: str) -> list[str]:
    """Judge a DNS label that starts with a letter (RFC 1035): services."""
    wrong = [longer_than(63)] if len(value.encode()) > 63 else []
    if not _is_label_1035(value):
        wrong.append(pattern_text(_TEXT_LABEL_1035, _LABEL_1035, "my-name", "abc-123"))
    return wrong


def wildcard_subdomain(value: str) -> list[str]:
    """Judge ``*.example.com``: hosts of ingresses."""
    wrong = [longer_than(253)] if len(value.encode()) > 253 else []
    if not _is_wildcard(value):
        wrong.append(pattern_text(_TEXT_WILDCARD, _WILDCARD, "*.example.com"))
    return wrong


def path_segment(value: str) -> list[str]:
    """Judge a name that only has to fit into a path: roles, and the like."""
    if value in (".", ".."):
        return [f"may not be '{value}'"]
    return [f"may not contain '{mark}'" for mark in ("/", "%") if mark in value]


@lru_cache(maxsize=8192)
def _label_key(value: str) -> tuple[str, ...]:
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        text = pattern_text(_TEXT_LABEL_KEY, _LABEL_KEY, "MyName", "my.name", "123-abc")
        optional = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return ("a valid label key " + text + optional,)
    wrong = []
    if slash:
        if not prefix:
            wrong.append("prefix part " + EMPTY)
        else:
            wrong += ["prefix part " + text for text in _subdomain(prefix, "bytes")]
    if not name:
        wrong.append("name part " + EMPTY)
    elif len(name.encode()) > 63:
        wrong.append("name part " + longer_than(63, "bytes"))
    if not _is_label_key(name):
        text = pattern_text(_TEXT_LABEL_KEY, _LABEL_KEY, "MyName", "my.name", "123-abc")
        wrong.append("name part " + text)
    return tuple(wrong)


def label_key(value: str) -> list[str]:
    """Judge a qualified name: keys of labels, annotations, resources, finalizers."""
    return list(_label_key(value))


@lru_cache(maxsize=8192)
def _label_value(value: str) -> tuple[str, ...]:
    wrong = [longer_than(63, "bytes")] if len(value.encode()) > 63 else []
    if not _is_label_value(value):
        text = pattern_text(_TEXT_LABEL_VALUE, _LABEL_VALUE, "MyValue", "my_value", "12345")
        wrong.append(text)
    return tuple(wrong)


def label_value(value: str) -> list[str]:
    """Judge the value of a label."""
    return list(_label_value(value))


def c_identifier(value: str) -> list[str]:
    """Judge an identifier of the C language."""
    if _is_c_identifier(value):
        return []
    return [
        pattern_text(_TEXT_C_IDENTIFIER, _C_IDENTIFIER, "my_name", "MY_NAME", "MyName"),
    ]


def env_name(value: str) -> list[str]:
    """Judge the name of an environment variable: printable ASCII without an equals sign."""
    wrong = ["environment variable name " + EMPTY] if not value else []
    if not (value.isascii() and value.isprintable()) or "=" in value:
        wrong.append(_TEXT_ENV)
    return wrong


def config_key(value: str) -> list[str]:
    """Judge a key of a ConfigMap or Secret."""
    wrong = [longer_than(253)] if len(value.encode()) > 253 else []
    if not _is_config_key(value):
        text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        wrong.append(pattern_text(text, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if value in (".", ".."):
        wrong.append(f"must not be '{value}'")
    elif value.startswith(".."):
        wrong.append("must not start with '..'")
    return wrong


def port_name(value: str) -> list[str]:
    """Judge the name of a port (RFC 6335, lower case)."""
    wrong = [longer_than(15)] if len(value.encode()) > 15 else []
    if not _is_port_charset(value):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _has_letter(value):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in value:
        wrong.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        wrong.append("must not begin or end with a hyphen")
    return wrong


def port_number(value: int) -> list[str]:
    """Judge a port number."""
    return [] if 1 <= value <= 65535 else [not_between(1, 65535)]


def unix_id(value: int) -> list[str]:
    """Judge a user or group id."""
    return [] if 0 <= value <= 2147483647 else [not_between(0, 2147483647)]


def http_header_name(value: str) -> list[str]:
    """Judge the name of an HTTP header."""
    if _is_header(value):
        return []
    text = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return [pattern_text(text, _HEADER, "X-Header-Name")]


def percent(value: str) -> list[str]:
    """Judge a percentage like ``25%``."""
    if _is_percent(value):
        return []
    text = "a valid percent string must be a numeric string followed by an ending '%'"
    return [pattern_text(text, _PERCENT, "1%", "93%")]


def http_path(value: str) -> list[str]:
    """Judge the path part of a domain-prefixed path."""
    return [] if _is_http_path(value) else [pattern_text("Invalid path", _HTTP_PATH)]


def ip_address(value: str) -> list[str]:
    """Judge an IP address in strict form: no leading zeros, no IPv4 inside IPv6."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        if re.fullmatch(r"\d{1,9}(\.\d{1,9}){3}", value) and all(
            int(part) < 256 for part in value.split(".")
        ):
            return ["must not have leading 0s"]
        return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    if "%" in value:
        return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return ["must not be an IPv4-mapped IPv6 address"]
    return []


def canonical_ip_address(value: str) -> list[str]:
    """Judge an IP address that must also be written the one recommended way."""
    if found := ip_address(value):
        return found
    best = str(ipaddress.ip_address(value))
    return [] if best == value else [f'must be in canonical form ("{best}")']


def canonical_ip_range(value: str) -> list[str]:
    """Judge a CIDR that must also be written the one recommended way."""
    if found := ip_range(value):
        return found
    best = str(ipaddress.ip_network(value))
    return [] if best == value else [f'must be in canonical form ("{best}")']


def ip_range(value: str) -> list[str]:
    """Judge a CIDR in strict form: no leading zeros, no bits beyond the prefix length."""
    broken = ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]
    address, slash, prefix = value.partition("/")
    if not slash or not (prefix.isascii() and prefix.isdigit()):
        return broken
    wrong = ip_address(address)
    if wrong == ["must not have leading 0s"] or (len(prefix) > 1 and prefix[0] == "0"):
        return ["must not have leading 0s in IP or prefix length"]
    if wrong == ["must not be an IPv4-mapped IPv6 address"]:
        return ["must not have an IPv4-mapped IPv6 address"]
    if wrong:
        return broken
    try:
        ipaddress.ip_network(value)
    except ValueError as problem:
        if "host bits" in str(problem):
            return ["must not have bits set beyond the prefix length"]
        return broken
    return []


def generated(rule: NameRule) -> NameRule:
    """Return ``rule`` as it judges a generateName: a final dash counts as an inner character."""

    def judge(prefix: str) -> list[str]:
        if len(prefix) > 1 and prefix.endswith("-"):
            prefix = prefix[:-2] + "a"
        return rule(prefix)

    return judge


def first_bad_label(labels: Mapping[str, str]) -> str | None:
    """Return the first key whose key or value breaks the rules; None where all are well."""
    for key, value in labels.items():
        if _label_key(key) or _label_value(value):
            return key
    return None
