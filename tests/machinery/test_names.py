from __future__ import annotations

import pytest

from windtunnel.machinery import names

GOOD = [
    (names.dns_subdomain, "a.b-c.d1"),
    (names.dns_label, "my-name"),
    (names.dns_1035_label, "a1"),
    (names.label_key, "example.com/My_Name"),
    (names.label_value, ""),
    (names.config_key, ".a"),
    (names.env_name, "MY VAR"),
    (names.port_name, "http-1"),
    (names.wildcard_subdomain, "*.bar.com"),
    (names.path_segment, "system:node"),
    (names.ip_address, "::1"),
    (names.ip_range, "10.0.0.0/8"),
    (names.canonical_ip_address, "fd00::1"),
    (names.canonical_ip_range, "fd00::/64"),
]

BAD = [
    (
        names.dns_label,
        "My_Name",
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and"
        " must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex"
        " used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ),
    (names.dns_label, "a.b", "must not contain dots"),
    (names.dns_label, "a" * 64, "must be no more than 63 characters"),
    (names.label_value, "a" * 64, "must be no more than 63 bytes"),
    (names.port_name, "a--b", "must not contain consecutive hyphens"),
    (names.port_number, 0, "must be between 1 and 65535, inclusive"),
    (names.config_key, "..a", "must not start with '..'"),
    (names.path_segment, "a/b", "may not contain '/'"),
    (names.ip_address, "01.2.3.4", "must not have leading 0s"),
    (names.ip_range, "10.0.0.1/8", "must not have bits set beyond the prefix length"),
    (names.canonical_ip_address, "FD00::1", 'must be in canonical form ("fd00::1")'),
    (names.canonical_ip_address, "x", names.ip_address("x")[0]),
    (names.canonical_ip_range, "fd00:0::/64", 'must be in canonical form ("fd00::/64")'),
    (names.canonical_ip_range, "x", names.ip_range("x")[0]),
]


@pytest.mark.parametrize(("rule", "value"), GOOD)
def test_a_good_name_passes(rule: names.NameRule, value: str) -> None:
    assert rule(value) == []


@pytest.mark.parametrize(("rule", "value", "want"), BAD)
def test_a_bad_name_is_refused_in_the_servers_words(
    rule: names.NameRule, value: str, want: str
) -> None:
    assert rule(value) == [want]


def test_a_prefix_may_end_with_a_dash() -> None:
    assert names.generated(names.dns_label)("worker-") == []
    assert names.dns_label("worker-") != []
