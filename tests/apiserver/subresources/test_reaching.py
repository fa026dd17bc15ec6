"""Where nodes, pods and what stands before a proxy can be reached."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.apiserver.subresources.reaching import Name, kubelet, proxied, served_address
from windtunnel.machinery.errors import BadRequest

NAMES = {
    "a name": ("n", Name("", "n", "")),
    "a port": ("n:80", Name("", "n", "80")),
    "a scheme": ("https:n:", Name("https", "n", "")),
}


@pytest.mark.parametrize(("text", "name"), NAMES.values(), ids=NAMES)
def test_what_stands_before_a_proxy(text: str, name: Name) -> None:
    assert proxied(text) == name


@pytest.mark.parametrize("text", ["", ":80", "ftp:n:80", "a:b:c:d"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        proxied(text)


def test_a_kubelet_listens_at_10250_unless_it_says_otherwise() -> None:
    status: dict[str, Any] = {"addresses": [{"type": "InternalIP", "address": "fd00::1"}]}

    assert str(kubelet({"status": status})) == "[fd00::1]:10250"


def test_pods_of_the_machine_itself_are_served_at_its_loopback() -> None:
    assert served_address("10.42.0.7", "127.0.0.1") == "127.42.0.7"
    assert served_address("10.42.0.7", "192.168.1.2") == "10.42.0.7"
    assert served_address("192.168.0.7", "127.0.0.1") == "192.168.0.7"
