"""What all tests share: how properties are searched, and where the recorded answers are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, and no verdict on speed: machines that run tests are busy.
settings.register_profile(
    "house", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("house"), max_examples=2000)
settings.load_profile("house")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder ``../shared``; tests that need it are skipped where it is not."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared (recorded answers beside the project)")
    return SHARED
