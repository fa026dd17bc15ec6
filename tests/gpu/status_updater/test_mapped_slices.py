"""Tests of slices that a node says it was cut into."""

import base64
import json

import pytest
from tests.devices.cut import A100

from windtunnel.devices import MigInstance
from windtunnel.gpu.status_updater.mapped_slices import mapped_slices


def mapping(*slices: tuple[int, str, int], gpu: str = "0") -> str:
    listed = [
        {"position": position, "device_uuid": uuid, "gpu_instance_id": instance}
        for position, uuid, instance in slices
    ]
    return base64.b64encode(json.dumps({gpu: listed}).encode()).decode()


def test_places_that_are_some_are_kept() -> None:
    found = mapped_slices(mapping((4, "b", 9), (0, "a", 9)), A100)

    assert found == {0: (MigInstance("a", "3g.40gb", 0), MigInstance("b", "3g.40gb", 4))}


def test_positions_that_are_no_places_are_counted_only() -> None:
    found = mapped_slices(mapping((0, "a", 19), (1, "b", 9), (2, "c", 19), gpu="3"), A100)

    assert found == {
        3: (
            MigInstance("b", "3g.40gb", 0),
            MigInstance("a", "1g.10gb", 4),
            MigInstance("c", "1g.10gb", 5),
        )
    }


WRONG = {
    "no base64": ("?", "the mapping cannot be read"),
    "no JSON": ("bm8=", "the mapping cannot be read"),
    "no list": (base64.b64encode(b'{"0": 1}').decode(), "the mapping cannot be read"),
    "an unknown profile": (mapping((0, "a", 77)), "has no MIG profile with the id 77"),
    "too much": (mapping((0, "a", 0), (1, "b", 9)), "do not fit into one"),
}


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        mapped_slices(text, A100)
