"""Tests of into which slices products can be cut."""

from __future__ import annotations

import pytest

from windtunnel.devices import geometry_of, instance_id, models, names_of_ids
from windtunnel.devices.mig_products import _document


@pytest.mark.parametrize(
    ("product", "name", "want"),
    [
        ("NVIDIA-A100-SXM4-40GB", "1g.5gb", 19),
        ("NVIDIA-A100-SXM4-40GB", "7g.40gb", 0),
        ("NVIDIA-H100-80GB-HBM3", "1g.10gb+me", 20),
        ("NVIDIA-H100-80GB-HBM3", "1g.20gb", 15),
        ("NVIDIA-H200", "3g.71gb", 9),
        ("NVIDIA GB200 NVL", "1g.47gb", 15),
        ("NVIDIA-A30", "2g.12gb+me", 6),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "1g.24gb+me.all", 65),
        ("Some-80GB-Thing", "2g.20gb", 14),
    ],
)
def test_a_slice_has_an_instance(product: str, name: str, want: int) -> None:
    assert instance_id(product, name) == want
    assert names_of_ids(product, [want]) == [name]


@pytest.mark.parametrize(
    ("product", "name", "words"),
    [
        ("Tesla-T4", "1g.5gb", "gpuProduct Tesla-T4 not supported"),
        ("", "1g.5gb", "gpuProduct  not supported"),
        ("NVIDIA-A100-SXM4-40GB", "9g.99gb", "failed mapping mig instance name 9g.99gb to gpu"),
    ],
)
def test_what_there_is_not_is_refused_in_words(product: str, name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        instance_id(product, name)


def test_every_model_that_can_be_cut_has_a_geometry() -> None:
    for model in models().values():
        if model.mig:
            geometry = geometry_of(model.name)
            assert max(profile.memory_mib for profile in geometry.profiles.values()) <= (
                model.memory_mib
            )


def test_the_models_that_can_be_cut_are_those_with_slices() -> None:
    assert set(_document().products) == {key for key, model in models().items() if model.mig}
