import pytest

from windtunnel.devices import find_model, models
from windtunnel.devices.catalogue import product_label


@pytest.mark.parametrize("asked", ["h100", "NVIDIA H100 80GB HBM3", "NVIDIA-H100-80GB-HBM3"])
def test_a_model_is_found_by_key_name_and_label(asked: str) -> None:
    model = find_model(asked)

    assert model is not None
    assert (model.label, model.memory_mib) == ("NVIDIA-H100-80GB-HBM3", 81559)


def test_an_unknown_model_is_none() -> None:
    assert find_model("Voodoo2") is None


def test_no_two_models_share_a_label() -> None:
    labels = [model.label for model in models().values()]

    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Tesla T4", "Tesla-T4"),
        ("A (b)  c", "A-b-c"),
        ("NVIDIA A100 80GB PCIe", "NVIDIA-A100-80GB-PCIe"),
    ],
)
def test_labels_hold_only_what_labels_may_hold(name: str, label: str) -> None:
    assert product_label(name) == label
