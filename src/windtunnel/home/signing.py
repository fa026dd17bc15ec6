"""Keys and certificates of elliptic curves: made, signed, read again.

Elliptic curves, because a key of P-256 is made in a millisecond. Keys come from the system's source
of randomness, never from ``kernel.chance``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from windtunnel.home.files import write_private

VALID: Final = timedelta(days=3650)
RENEW_BEFORE: Final = timedelta(days=30)
_CLOCK_SKEW: Final = timedelta(hours=1)

PrivateKey = ec.EllipticCurvePrivateKey


def key_of(certificate: Path) -> Path:
    """Return where the key of a certificate lies: beside it."""
    return certificate.with_suffix(".key")


class Authority:
    """Who signs the certificates of one cluster."""

    def __init__(self, certificate: x509.Certificate, key: PrivateKey) -> None:
        self.certificate, self.key = certificate, key

    @classmethod
    def make(cls, common: str, now: datetime) -> Authority:
        """Make one that signs itself."""
        key, name = new_key(), _name(common)
        certificate = (
            _draft(name, name, key, now)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(certificate, key)

    @classmethod
    def read(cls, path: Path) -> Authority | None:
        """Return the one that is kept there; None where there is none, or it is damaged."""
        try:
            certificate = x509.load_pem_x509_certificate(path.read_bytes())
            key = serialization.load_pem_private_key(key_of(path).read_bytes(), None)
        except (FileNotFoundError, ValueError, TypeError, UnsupportedAlgorithm):
            return None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            return None
        return cls(certificate, key) if certificate.public_key() == key.public_key() else None

    def keep(self, path: Path) -> None:
        """Write certificate and key."""
        write_private(key_of(path), key_pem(self.key))
        write_private(path, _pem(self.certificate))

    def lasts(self, now: datetime) -> bool:
        """Whether it is not near its end."""
        return self.certificate.not_valid_after_utc - RENEW_BEFORE > now

    def certify(
        self,
        path: Path,
        now: datetime,
        common: str,
        organisation: str = "",
        *,
        names: Sequence[str] = (),
        addresses: Sequence[str] = (),
    ) -> None:
        """Write a certificate and its key.

        Args:
            path: Where the certificate is to lie.
            now: When it begins.
            common: Whom it names: the user, where it is a client's.
            organisation: The user's group.
            names: Under which names a server is called; with ``addresses`` empty: a client's.
            addresses: At which addresses a server is called.
        """
        key = new_key()
        purpose = ExtendedKeyUsageOID.CLIENT_AUTH
        draft = _draft(_name(common, organisation), self.certificate.subject, key, now)
        if names or addresses:
            purpose = ExtendedKeyUsageOID.SERVER_AUTH
            known: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
            known += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
            draft = draft.add_extension(x509.SubjectAlternativeName(known), critical=False)
        signed_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        certificate = (
            draft.add_extension(_usage(), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(signed_by, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        write_private(key_of(path), key_pem(key))
        write_private(path, _pem(certificate))

    def vouches(self, path: Path, now: datetime) -> bool:
        """Whether a certificate and its key are there, ours, and not near their end."""
        try:
            found = x509.load_pem_x509_certificate(path.read_bytes())
            found.verify_directly_issued_by(self.certificate)
        except (FileNotFoundError, ValueError, TypeError, InvalidSignature):
            return False
        fits = found.public_key() == public_half(key_of(path))
        return fits and found.not_valid_after_utc - RENEW_BEFORE > now


def public_half(path: Path) -> object:
    """Return the public half of a key; None where there is no key or it is damaged."""
    try:
        return serialization.load_pem_private_key(path.read_bytes(), None).public_key()
    except (FileNotFoundError, ValueError, TypeError, UnsupportedAlgorithm):
        return None


def new_key() -> PrivateKey:
    """Make a key."""
    return ec.generate_private_key(ec.SECP256R1())


def key_pem(key: PrivateKey) -> bytes:
    """Return a key as it is kept."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _draft(
    subject: x509.Name, issuer: x509.Name, key: PrivateKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not signs,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str, organisation: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organisation:
        parts.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    return x509.Name(parts)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
