"""Client certificates reach the core as names."""

from __future__ import annotations

import ssl
from typing import Any

import pytest

from windtunnel.apiserver.edge import Certificates
from windtunnel.apiserver.request import Answer, Outcome, Request
from windtunnel.home.certificates import Keyring, provide
from windtunnel.kernel import WallClock


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keyring:
    return provide(tmp_path_factory.mktemp("keys"), WallClock().now(), "10.96.0.1")


def names_seen(serve: Any, keys: Keyring, trust: ssl.SSLContext) -> object:
    def handle(request: Request) -> Outcome:
        return Answer(200, repr(request.certificate).encode())

    certificates = Certificates(keys.server, keys.server_key, keys.authority)
    served = serve(handle, None, certificates, trust)
    return served.ask("GET", "/").body.decode()


def test_a_certificate_names_a_user_and_groups(serve: Any, keys: Keyring) -> None:
    trust = ssl.create_default_context(cafile=keys.authority)
    trust.load_cert_chain(keys.admin, keys.admin_key)

    assert names_seen(serve, keys, trust) == "('kubernetes-admin', ('system:masters',))"


def test_without_a_certificate_there_are_no_names(serve: Any, keys: Keyring) -> None:
    trust = ssl.create_default_context(cafile=keys.authority)

    assert names_seen(serve, keys, trust) == "None"


def test_a_certificate_of_a_foreign_authority_gets_nowhere(
    serve: Any, keys: Keyring, tmp_path_factory: pytest.TempPathFactory
) -> None:
    foreign = provide(tmp_path_factory.mktemp("foreign"), WallClock().now(), "10.96.0.1")
    trust = ssl.create_default_context(cafile=keys.authority)
    trust.load_cert_chain(foreign.admin, foreign.admin_key)

    with pytest.raises(OSError):
        names_seen(serve, keys, trust)
