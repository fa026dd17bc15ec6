from __future__ import annotations

import pytest
from tests.kinds.replay import answers, judge

from windtunnel.kinds.network.address_warnings import (
    ip_warnings,
    one_ip_warnings,
    one_range_warnings,
)
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("address_warnings"))
def test_requests_are_answered_as_the_real_server_answered_them(case: Tree) -> None:
    judge(case)


@pytest.mark.parametrize("value", ["", "10.0.0.1", "::", "fd00::1", "a:b", "None"])
def test_canonical_addresses_and_what_is_no_address_earn_no_warning(value: str) -> None:
    assert one_ip_warnings(value, "spec.ip") == []


@pytest.mark.parametrize("value", ["", "10.0.0.0/8", "::/0", "fd00::/64", "a:b/64"])
def test_canonical_ranges_and_what_is_no_range_earn_no_warning(value: str) -> None:
    assert one_range_warnings(value, "spec.range") == []


def test_a_warning_names_the_place_in_the_list() -> None:
    assert ip_warnings(["::1", "::A"], "ips") == [
        'ips[1]: IPv6 address "::A" should be in RFC 5952 canonical format ("::a")'
    ]
