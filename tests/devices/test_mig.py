"""Tests of MIG slices."""

import pytest

from windtunnel.devices import instance_id


@pytest.mark.parametrize(
    ("product", "name", "want"),
    [
        ("NVIDIA-A100-SXM4-40GB", "1g.5gb", 19),
        ("NVIDIA-A100-SXM4-40GB", "7g.40gb", 0),
        ("NVIDIA-H100-80GB-HBM3", "1g.10gb+me", 20),
        ("NVIDIA-H100-80GB-HBM3", "1g.20gb", 15),
    ],
)
def test_a_slice_has_an_instance(product: str, name: str, want: int) -> None:
    assert instance_id(product, name) == want


@pytest.mark.parametrize(
    ("product", "name", "words"),
    [
        ("Tesla-T4", "1g.5gb", "gpuProduct Tesla-T4 not supported"),
        ("NVIDIA-A100-SXM4-40GB", "9g.99gb", "failed mapping mig instance name 9g.99gb to gpu"),
    ],
)
def test_what_there_is_not_is_refused_in_words(product: str, name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        instance_id(product, name)
