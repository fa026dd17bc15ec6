"""Tests of exports that are resolved at first use."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from windtunnel.machinery.exports import lazily


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = ModuleType("lazy")
    monkeypatch.setitem(sys.modules, "lazy", found)
    found.__dict__["__getattr__"] = lazily("lazy", {"machinery.names": ("dns_label", "gone")})
    return found


def test_an_export_comes_from_its_home_and_stays(package: ModuleType) -> None:
    from windtunnel.machinery.names import dns_label

    assert package.dns_label is dns_label
    assert vars(package)["dns_label"] is dns_label


@pytest.mark.parametrize("name", ["other", "gone"])
def test_what_is_not_there_is_missed_as_in_any_module(package: ModuleType, name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(package, name)


def test_a_function_may_be_named_as_its_module_is() -> None:
    from windtunnel import assembly

    assert callable(assembly.start)
    assert callable(assembly.start)
