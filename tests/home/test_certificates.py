"""Certificates that any TLS client accepts, made once and used again."""

from __future__ import annotations

import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from windtunnel.errors import DataError
from windtunnel.home.certificates import RENEW_BEFORE, VALID, provide, provide_node

NOW = 1_790_000_000.0


def test_the_server_is_known_by_every_name_it_is_called(tmp_path: Path) -> None:
    made = provide(tmp_path, NOW, "10.96.0.1")

    server = x509.load_pem_x509_certificate(made.server.read_bytes())
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "kubernetes.default.svc" in names.get_values_for_type(x509.DNSName)
    assert names.get_values_for_type(x509.IPAddress) == [
        ipaddress.ip_address(address) for address in ("127.0.0.1", "::1", "10.96.0.1")
    ]
    server.verify_directly_issued_by(x509.load_pem_x509_certificate(made.authority.read_bytes()))


def test_the_administrator_is_a_master(tmp_path: Path) -> None:
    made = provide(tmp_path, NOW, "10.96.0.1")

    subject = x509.load_pem_x509_certificate(made.admin.read_bytes()).subject
    assert subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "kubernetes-admin"
    assert subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)[0].value == "system:masters"


def test_keys_are_private_and_fit_their_certificates(tmp_path: Path) -> None:
    made = provide(tmp_path, NOW, "10.96.0.1")

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(made.server, made.server_key)
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(made.admin, made.admin_key)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_there_is_used_again(tmp_path: Path) -> None:
    provide(tmp_path, NOW, "10.96.0.1")
    before = contents(tmp_path)

    provide(tmp_path, NOW + 1, "10.96.0.1")

    assert contents(tmp_path) == before


def test_near_their_end_all_but_the_signing_key_are_made_anew(tmp_path: Path) -> None:
    provide(tmp_path, NOW, "10.96.0.1")
    before = contents(tmp_path)

    provide(tmp_path, NOW + (VALID - RENEW_BEFORE).total_seconds() + 1, "10.96.0.1")

    changed = {name for name, content in contents(tmp_path).items() if content != before[name]}
    assert changed == set(before) - {"sa.key"}


@pytest.mark.parametrize("name", ["ca.crt", "server.crt", "server.key", "admin.crt", "sa.key"])
def test_a_missing_file_is_made_anew(tmp_path: Path, name: str) -> None:
    provide(tmp_path, NOW, "10.96.0.1")
    (tmp_path / name).unlink()

    provide(tmp_path, NOW, "10.96.0.1")

    assert (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["ca.crt", "server.crt", "server.key", "admin.crt", "admin.key"])
@pytest.mark.parametrize("other", ["nonsense", "ca.key"])
def test_what_is_damaged_or_does_not_belong_is_made_anew(
    tmp_path: Path, name: str, other: str
) -> None:
    made = provide(tmp_path, NOW, "10.96.0.1")
    beside = tmp_path / other
    (tmp_path / name).write_bytes(beside.read_bytes() if beside.exists() else b"nonsense")

    provide(tmp_path, NOW, "10.96.0.1")

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(made.server, made.server_key)
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(made.admin, made.admin_key)


def test_a_damaged_key_of_the_tokens_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    made = provide(tmp_path, NOW, "10.96.0.1")
    made.accounts_key.write_text("nonsense")

    with pytest.raises(DataError, match=r"sa\.key is damaged"):
        provide(tmp_path, NOW, "10.96.0.1")

    assert made.accounts_key.read_text() == "nonsense"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DataError, match=r"cannot keep certificates in .*pki"):
        provide(tmp_path / "file" / "pki", NOW, "10.96.0.1")


def test_a_node_is_a_node_to_the_server_and_known_by_its_name(tmp_path: Path) -> None:
    made = provide(tmp_path, NOW, "10.96.0.1")

    node = provide_node(made, NOW, "node-0")

    client = x509.load_pem_x509_certificate(node.client.read_bytes())
    assert client.subject.rfc4514_string() == "CN=system:node:node-0,O=system:nodes"
    serving = x509.load_pem_x509_certificate(node.serving.read_bytes())
    names = serving.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["node-0", "localhost"]
    assert ipaddress.ip_address("127.0.0.1") in names.get_values_for_type(x509.IPAddress)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(node.serving, node.serving_key)
    before = contents(tmp_path)
    provide_node(made, NOW + 1, "node-0")
    assert contents(tmp_path) == before


def test_a_cluster_of_before_gets_what_it_lacks_and_keeps_the_rest(tmp_path: Path) -> None:
    made = provide(tmp_path, NOW, "10.96.0.1")
    before = contents(tmp_path)
    made.kubelet_client.unlink()

    provide(tmp_path, NOW, "10.96.0.1")

    changed = {name for name, content in contents(tmp_path).items() if content != before[name]}
    assert changed == {"kubelet-client.crt", "kubelet-client.key"}
