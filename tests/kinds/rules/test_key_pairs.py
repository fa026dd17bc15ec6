from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.kinds.replay import answers, judge

from windtunnel.kinds.rules.key_pairs import mistake_in
from windtunnel.machinery.tree import Tree


def signed(form: PrivateFormat = PrivateFormat.PKCS8) -> tuple[bytes, bytes]:
    """Return a new certificate and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=1))
        .sign(key, SHA256())
    )
    return certificate.public_bytes(Encoding.PEM), key.private_bytes(
        Encoding.PEM, form, NoEncryption()
    )


def pem(kind: str, content: bytes = b"junk") -> bytes:
    return f"-----BEGIN {kind}-----\n{b64encode(content).decode()}\n-----END {kind}-----\n".encode()


@pytest.mark.parametrize("case", answers("key_pairs"))
def test_requests_are_answered_as_the_real_server_answered_them(case: Tree) -> None:
    judge(case)


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_what_belongs_together_is_no_mistake(form: PrivateFormat) -> None:
    assert mistake_in(*signed(form)) == ""


def test_blocks_of_other_types_are_passed_over() -> None:
    certificate, key = signed()
    assert mistake_in(pem("X") + certificate, b"text\n" + pem("EC PARAMETERS") + key) == ""


def test_another_key_is_a_mistake() -> None:
    assert mistake_in(signed()[0], signed()[1]) == "tls: private key does not match public key"


def test_a_key_of_another_sort_is_a_mistake() -> None:
    other = ed25519.Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    words = "tls: private key type does not match public key type"
    assert mistake_in(signed()[0], other) == words


def test_inputs_the_wrong_way_round_are_a_mistake() -> None:
    certificate, key = signed()
    assert mistake_in(key, certificate).endswith("PEM inputs may have been switched")
    words = "tls: found a certificate rather than a key in the PEM for the private key"
    assert mistake_in(certificate, certificate) == words


def test_junk_in_blocks_is_a_mistake() -> None:
    certificate, key = signed()
    assert mistake_in(pem("CERTIFICATE"), key) == "x509: malformed certificate"
    assert mistake_in(certificate, pem("PRIVATE KEY")) == "tls: failed to parse private key"
    words = (
        'tls: failed to find "CERTIFICATE" PEM block in certificate input'
        " after skipping PEM blocks of the following types: [X Y]"
    )
    assert mistake_in(pem("X Y"), key) == words
