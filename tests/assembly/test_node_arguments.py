"""What a node process is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.assembly.node_arguments import read_arguments
from windtunnel.errors import UsageError


def test_a_node_is_told_its_place_and_where_the_api_answers() -> None:
    words = (
        "--root /x --api 127.0.0.1:7443 --label a=b --taint k=v:NoSchedule --port 99 --network 44"
    )
    told = read_arguments(words.split(), {"NODE_NAME": "one"})

    assert (told.settings.name, told.settings.root) == ("one", Path("/x"))
    assert (told.settings.api_host, told.settings.api_port) == ("127.0.0.1", 7443)
    assert (told.settings.labels, told.settings.taints) == ({"a": "b"}, ("k=v:NoSchedule",))
    assert (told.certificates, told.network) == (None, 44)


@pytest.mark.parametrize("words", ["", "--root /x --nope", "--root /x --port many"])
def test_what_a_node_does_not_know_is_refused_in_one_sentence(words: str) -> None:
    with pytest.raises(UsageError, match=r"--(root|nope|port)"):
        read_arguments(words.split(), {})
