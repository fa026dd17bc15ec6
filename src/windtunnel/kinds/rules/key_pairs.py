"""Whether a certificate and a private key belong together, in the words of Go's crypto/tls."""

from __future__ import annotations

import binascii
import re
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_private_key,
)

_BLOCK: Final = re.compile(
    rb"(?ms)^-----BEGIN ([^\n]*?)-----[ \t\r]*\n(.*?)^-----END \1-----[ \t\r]*$"
)
_NOT_A_CERTIFICATE: Final = "x509: malformed certificate"


def mistake_in(certificate: bytes, key: bytes) -> str:
    """Return what keeps the two from serving TLS together; "" where nothing does."""
    chain, keys = _blocks(certificate), _blocks(key)
    certificates = [content for kind, content in chain if kind == "CERTIFICATE"]
    if not certificates:
        return _no_certificate([kind for kind, _ in chain])
    private = [content for kind, content in keys if f" {kind}".endswith(" PRIVATE KEY")]
    if not private:
        return _no_key([kind for kind, _ in keys])
    try:
        public = x509.load_der_x509_certificate(certificates[0]).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return _NOT_A_CERTIFICATE
    secret = _private_key(private[0])
    if secret is None:
        return "tls: failed to parse private key"
    own = secret.public_key()
    if type(own) is not type(public):
        return "tls: private key type does not match public key type"
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    if own.public_bytes(*form) != public.public_bytes(*form):
        return "tls: private key does not match public key"
    return ""


def _blocks(text: bytes) -> list[tuple[str, bytes]]:
    found = []
    for kind, body in _BLOCK.findall(text):
        try:
            content = binascii.a2b_base64(body.rpartition(b"\n\n")[2])
        except binascii.Error:
            continue
        found.append((kind.decode(errors="replace"), content))
    return found


def _no_certificate(skipped: list[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in certificate input"
    if len(skipped) == 1 and skipped[0].endswith("PRIVATE KEY"):
        return (
            "tls: failed to find certificate PEM data in certificate input,"
            " but did find a private key; PEM inputs may have been switched"
        )
    return (
        'tls: failed to find "CERTIFICATE" PEM block in certificate input'
        f" after skipping PEM blocks of the following types: [{' '.join(skipped)}]"
    )


def _no_key(skipped: list[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in key input"
    if skipped == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    return (
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input'
        f" after skipping PEM blocks of the following types: [{' '.join(skipped)}]"
    )


def _private_key(content: bytes) -> PrivateKeyTypes | None:
    try:
        return load_der_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
