"""Tests of product names in labels."""

import pytest

from windtunnel.devices import label_value

CASES = {
    "Tesla K80 (rev 2)": "Tesla-K80--rev-2",
    "NVIDIA H100 80GB HBM3": "NVIDIA-H100-80GB-HBM3",
    "--x--": "x",
    "": "",
    "é": "",
    "a" * 70: "a" * 63,
    "a" * 62 + "-b": "a" * 62,
}


@pytest.mark.parametrize(("product", "want"), CASES.items())
def test_a_label_value(product: str, want: str) -> None:
    assert label_value(product) == want
