"""What containers read of hosts."""

from __future__ import annotations

import pytest

from windtunnel.nodes.kubelet.hosts_file import hosts_text, with_services


def test_a_container_finds_itself_behind_what_every_one_has() -> None:
    lines = hosts_text("10.42.0.5", ["h.s", "h"], ["1.2.3.4\tx"]).splitlines()

    assert lines[0] == "# Kubernetes-managed hosts file."
    assert lines[-2:] == ["10.42.0.5\th.s\th", "1.2.3.4\tx"]


def test_on_the_hosts_network_it_has_no_address_of_its_own() -> None:
    assert hosts_text("", ["h"]).endswith("fe00::2\tip6-allrouters\n")


OWN = hosts_text("10.42.0.5", ["h"])


def test_services_stand_before_the_address_that_is_only_shown() -> None:
    lines = with_services(OWN, ["1.1.1.1\tx", "1.1.1.2\ty"]).splitlines()

    assert lines[-5:] == [
        "# Services, kept up to date by windtunnel.",
        "1.1.1.1\tx",
        "1.1.1.2\ty",
        "# End of services.",
        "10.42.0.5\th",
    ]


@pytest.mark.parametrize("first", [[], ["1.1.1.1\tx"]])
@pytest.mark.parametrize("text", [OWN, "", "not ours\n", OWN + "6.6.6.6\tmine\n"])
def test_a_block_of_services_can_be_changed_and_taken_away(text: str, first: list[str]) -> None:
    once = with_services(text, first)

    assert with_services(once, ["2.2.2.2\ty"]) == with_services(text, ["2.2.2.2\ty"])
    assert with_services(once, []) == text
