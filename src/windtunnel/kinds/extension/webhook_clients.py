"""Where a webhook is called: by URL or by service. Shared by admission and conversion webhooks.

Source: k8s.io/apiserver of v1.36.3.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence
from typing import Final

from windtunnel.kinds.rules import checks
from windtunnel.machinery import names
from windtunnel.machinery.tree import Tree
from windtunnel.machinery.violations import (
    Violation,
    invalid,
    required,
)

_FORM: Final = "; desired format: https://host[/path]"
_REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_DEFAULT_PORT: Final = 443


def default_service(client: Tree | None) -> None:
    """Fill in the port of a service that is called."""
    service = (client or {}).get("service")
    if service is not None and service.get("port") is None:
        service["port"] = _DEFAULT_PORT


def validate_client(client: Tree, field: str, *, shown: str = "") -> list[Violation]:
    """Judge a client configuration; ``shown`` is the field to name where it is called otherwise."""
    url, service = client.get("url"), client.get("service")
    where = shown or field
    if (url is None) == (service is None):
        return [required(where, "exactly one of url or service is required")]
    if url is not None:
        return _validate_url(url, f"{where}.url")
    return _validate_service(service or {}, f"{where}.service")


def _validate_url(text: str, field: str) -> list[Violation]:
    try:
        url = urllib.parse.urlsplit(text)
    except ValueError as problem:
        return [required(field, f"url must be a valid URL: {problem}{_FORM}")]
    user, at, host = url.netloc.rpartition("@")
    found: list[Violation] = []
    if url.scheme != "https":
        text = f"'https' is the only allowed URL scheme{_FORM}"
        found.append(invalid(field, url.scheme, text))
    if not host:
        found.append(invalid(field, host, f"host must be specified{_FORM}"))
    if at:
        found.append(invalid(field, user, "user information is not permitted in the URL"))
    if url.fragment:
        found.append(invalid(field, url.fragment, "fragments are not permitted in the URL"))
    if url.query:
        found.append(invalid(field, url.query, "query parameters are not permitted in the URL"))
    return found


def _validate_service(service: Tree, field: str) -> list[Violation]:
    # The real server hands name and namespace over in the wrong order, so they are named so.
    found = [] if service.get("namespace") else [required(f"{field}.name")]
    if not service.get("name"):
        found.append(required(f"{field}.namespace"))
    port = service.get("port") or 0
    wrong = names.port_number(port)
    if wrong:
        found.append(invalid(f"{field}.port", port, f"port is not valid: {', '.join(wrong)}"))
    path = service.get("path") or "/"
    if path == "/":
        return found
    return found + _validate_path(path, f"{field}.path")


def _validate_path(path: str, field: str) -> list[Violation]:
    if path == "//":
        return [invalid(field, path, "segment[0] may not be empty")]
    found = [] if path.startswith("/") else [invalid(field, path, "must start with a '/'")]
    for index, segment in enumerate(path[1:].removesuffix("/").split("/")):
        if not segment:
            found.append(invalid(field, path, f"segment[{index}] may not be empty"))
            continue
        for text in names.dns_subdomain(segment):
            found.append(invalid(field, path, f"segment[{index}]: {text}"))
    return found


def validate_review_versions(versions: Sequence[str], field: str) -> list[Violation]:
    """Judge the versions of the review object that a webhook understands; we must know one."""
    known = ", ".join(_REVIEW_VERSIONS)
    if not versions:
        return [required(field, f"must specify one of {known}")]
    found: list[Violation] = []
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version in seen:
            found.append(invalid(f"{field}[{index}]", version, "duplicate version"))
            continue
        seen.add(version)
        found += checks.each(names.dns_1035_label(version), f"{field}[{index}]", version)
    if not seen & set(_REVIEW_VERSIONS):
        found.append(invalid(field, list(versions), f"must include at least one of {known}"))
    return found
