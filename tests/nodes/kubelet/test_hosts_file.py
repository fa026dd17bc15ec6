"""What containers read of hosts."""

from __future__ import annotations

from windtunnel.nodes.kubelet.hosts_file import hosts_text


def test_a_container_finds_itself_behind_what_every_one_has() -> None:
    lines = hosts_text("10.42.0.5", ["h.s", "h"], ["1.2.3.4\tx"]).splitlines()

    assert lines[0] == "# Kubernetes-managed hosts file."
    assert lines[-2:] == ["10.42.0.5\th.s\th", "1.2.3.4\tx"]


def test_on_the_hosts_network_it_has_no_address_of_its_own() -> None:
    assert hosts_text("", ["h"]).endswith("fe00::2\tip6-allrouters\n")
