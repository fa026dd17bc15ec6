"""Tests of GPUs that are offered several times over."""

import msgspec
import pytest

from windtunnel.devices import Sharing, check_sharing

TEN = {"name": "nvidia.com/gpu", "replicas": 10}


def sharing(**blocks: object) -> Sharing:
    return msgspec.convert(blocks, Sharing)


REFUSES = {
    "time slicing gives several": ({"timeSlicing": {"resources": [TEN]}}, False),
    "time slicing may refuse": (
        {"timeSlicing": {"resources": [TEN], "failRequestsGreaterThanOne": True}},
        True,
    ),
    "MPS refuses unless it is told otherwise": ({"mps": {"resources": [TEN]}}, True),
    "MPS may give several": (
        {"mps": {"resources": [TEN], "failRequestsGreaterThanOne": False}},
        False,
    ),
}


@pytest.mark.parametrize(("blocks", "want"), REFUSES.values(), ids=REFUSES)
def test_who_refuses_more_than_one(blocks: dict[str, object], want: bool) -> None:
    assert sharing(**blocks).refuses_more_than_one is want


def test_a_resource_is_known_with_and_without_its_vendor() -> None:
    found = sharing(timeSlicing={"resources": [{"name": "gpu", "replicas": 3}]})

    assert found.replicas("nvidia.com/gpu") == 3
    assert found.replicas("nvidia.com/mig-1g.5gb") == 1
    assert found.offered_name("nvidia.com/gpu") == "nvidia.com/gpu"


def test_only_what_is_shared_is_renamed_and_by_default_only() -> None:
    renamed = {"name": "gpu", "replicas": 3, "rename": "mine", "devices": "all"}
    found = sharing(timeSlicing={"renameByDefault": True, "resources": [renamed]})

    assert found.offered_name("nvidia.com/gpu") == "nvidia.com/gpu.shared"
    assert found.offered_name("nvidia.com/mig-1g.5gb") == "nvidia.com/mig-1g.5gb"


def test_of_two_ways_mps_counts() -> None:
    both = sharing(mps={"resources": [TEN]}, timeSlicing={"resources": [TEN | {"replicas": 2}]})

    assert (both.strategy, both.replicas("nvidia.com/gpu")) == ("mps", 10)
    assert Sharing().strategy == "none"


REFUSED = {
    "number of replicas must be >= 2": {"resources": [TEN | {"replicas": 1}]},
    "no replicas specified": {"resources": [{"name": "gpu"}]},
    "no resources specified": {"resources": []},
    "no resource name specified": {"resources": [{"replicas": 2}]},
    "is longer than 63 characters": {"resources": [TEN | {"name": "x" * 60}]},
}


@pytest.mark.parametrize(("words", "block"), REFUSED.items(), ids=REFUSED)
def test_a_mistake_is_told_in_the_words_of_the_device_plugin(
    words: str, block: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match=words):
        check_sharing(sharing(timeSlicing=block))
