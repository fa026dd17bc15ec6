from __future__ import annotations

import pytest

from windtunnel.kinds.extension.webhook_clients import (
    default_service,
    validate_client,
    validate_review_versions,
)
from windtunnel.machinery.tree import Tree

AT = "c.url: Invalid value:"
FORM = "; desired format: https://host[/path]"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://host/path", []),
        ("https://127.0.0.1:8443/x", []),
        ("http://h/", [f"{AT} \"http\": 'https' is the only allowed URL scheme{FORM}"]),
        ("https:///x", [f'{AT} "": host must be specified{FORM}']),
        ("https://h/#f", [f'{AT} "f": fragments are not permitted in the URL']),
        ("https://h/?q", [f'{AT} "q": query parameters are not permitted in the URL']),
    ],
)
def test_a_url_is_https_and_plain(url: str, said: list[str]) -> None:
    assert [str(found) for found in validate_client({"url": url}, "c")] == said


def test_a_service_is_called_at_443_unless_it_says_otherwise() -> None:
    client: Tree = {"service": {"name": "s", "namespace": "n"}}
    default_service(client)

    assert client["service"]["port"] == 443
    assert validate_client(client, "c") == []


def test_one_known_review_version_is_enough() -> None:
    assert validate_review_versions(["v9", "v1"], "v") == []
    assert len(validate_review_versions(["v9"], "v")) == 1
