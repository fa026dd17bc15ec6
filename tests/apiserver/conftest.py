"""Fixtures of the API server's tests."""

from __future__ import annotations

import pytest

from tests.apiserver.api import Api


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def ns(api: Api) -> str:
    """The path of a namespace with a default account."""
    return api.namespace()
