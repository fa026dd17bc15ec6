"""Tests of the mapping of MIG slices."""

from __future__ import annotations

import pytest

from windtunnel.gpu.mig_faker.mapping import mapping_of, parse_wishes

A100 = "NVIDIA-A100-SXM4-40GB"


def wish(device: str, *slices: str) -> str:
    cut = ", ".join(f"{{name: {name}, position: {at}}}" for at, name in enumerate(slices))
    return f"{{devices: [{device}], mig-devices: [{cut}]}}"


def ids(*wishes: str, product: str = A100) -> dict[str, list[int]]:
    text = f"version: v1\nmig-configs: {{selected: [{', '.join(wishes)}]}}\n"
    found = mapping_of(parse_wishes(text), "n", product, 3)
    return {gpu: [one["gpu_instance_id"] for one in cut] for gpu, cut in found.items()}


CASES = {
    "slices in their places": (ids(wish("'0'", "1g.5gb", "2g.10gb")), {"0": [19, 14]}),
    "an index that is a number": (ids(wish("1", "7g.40gb")), {"1": [0]}),
    "an index with zeros before it": (ids(wish("'01'", "7g.40gb")), {"1": [0]}),
    "a later entry replaces an earlier one": (
        ids(wish("'0'", "1g.5gb"), wish("'0'", "7g.40gb")),
        {"0": [0]},
    ),
    "all GPUs": (ids(wish("all", "7g.40gb")), {"0": [0], "1": [0], "2": [0]}),
    "an entry without devices": (ids("{devices: []}"), {}),
}


@pytest.mark.parametrize(("found", "want"), CASES.values(), ids=CASES)
def test_mapping(found: dict[str, list[int]], want: dict[str, list[int]]) -> None:
    assert found == want


def test_the_same_wishes_give_the_same_slices() -> None:
    entries = parse_wishes(f"mig-configs: {{selected: [{wish('0', '1g.5gb', '1g.5gb')}]}}")
    once, again = (mapping_of(entries, "n", A100, 1) for _ in range(2))

    assert once == again
    assert len({one["device_uuid"] for one in once["0"]}) == 2


@pytest.mark.parametrize("text", ["not: [yaml", "words", "mig-configs: {selected: [x]}"])
def test_what_is_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"yaml|mapping"):
        parse_wishes(text)


@pytest.mark.parametrize(
    ("wishes", "product", "words"),
    [
        (wish("'x'", "1g.5gb"), A100, "failed to parse gpu index x"),
        (wish("'0'", "9g.99gb"), A100, "failed mapping mig instance name 9g.99gb"),
        (wish("'0'", "1g.5gb"), "Tesla-T4", "gpuProduct Tesla-T4 not supported"),
    ],
)
def test_what_cannot_be_cut_is_refused(wishes: str, product: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ids(wishes, product=product)
