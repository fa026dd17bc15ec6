"""The cluster's own certificates: one authority, one server, one administrator, one signing key.

Elliptic curves, because a key of P-256 is made in a millisecond. What exists is used again, so that
a kubeconfig outlives a restart; what is missing, unreadable or near its end is made anew. Keys come
from the system's source of randomness, never from ``kernel.chance``.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from windtunnel.errors import DataError
from windtunnel.home.files import write_private

VALID: Final = timedelta(days=3650)
RENEW_BEFORE: Final = timedelta(days=30)
_CLOCK_SKEW: Final = timedelta(hours=1)

SERVER_NAMES: Final = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)

Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class Keyring:
    """Paths of the PEM files of one cluster; a key lies beside each certificate."""

    folder: Path

    @property
    def authority(self) -> Path:
        """The certificate that signs the others; clients are known by it."""
        return self.folder / "ca.crt"

    @property
    def server(self) -> Path:
        """The API server's certificate."""
        return self.folder / "server.crt"

    @property
    def server_key(self) -> Path:
        """The API server's key."""
        return self.folder / "server.key"

    @property
    def admin(self) -> Path:
        """The certificate of user ``kubernetes-admin`` in group ``system:masters``."""
        return self.folder / "admin.crt"

    @property
    def admin_key(self) -> Path:
        """The administrator's key."""
        return self.folder / "admin.key"

    @property
    def accounts_key(self) -> Path:
        """The key that signs tokens of service accounts."""
        return self.folder / "sa.key"


def provide(folder: Path, now: float, service_address: str) -> Keyring:
    """Return the certificates in ``folder``, making what is missing or near its end.

    Args:
        folder: Where the files are.
        now: Seconds since the epoch.
        service_address: The first service address, at which pods know the API server.

    Raises:
        DataError: the folder cannot be written, or the key of the tokens is damaged.
    """
    keyring, moment = Keyring(folder), datetime.fromtimestamp(now, UTC)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _usable(keyring, moment):
            _make(keyring, moment, service_address)
        if not keyring.accounts_key.exists():
            write_private(keyring.accounts_key, _key_pem(_key()))
        elif _public(keyring.accounts_key) is None:
            # Made anew, it would void every token that was ever given out.
            raise DataError(
                f"{keyring.accounts_key} is damaged: put the old one back, or delete it and with "
                "it all tokens of service accounts"
            )
    except OSError as error:
        raise DataError(f"cannot keep certificates in {folder}: {error.strerror}") from error
    return keyring


def _usable(keyring: Keyring, now: datetime) -> bool:
    paths = (keyring.authority, keyring.server, keyring.admin)
    try:
        found = [x509.load_pem_x509_certificate(path.read_bytes()) for path in paths]
    except (FileNotFoundError, ValueError):
        return False
    pairs = zip(found[1:], (keyring.server_key, keyring.admin_key), strict=True)
    if any(certificate.public_key() != _public(key) for certificate, key in pairs):
        return False
    return all(certificate.not_valid_after_utc - RENEW_BEFORE > now for certificate in found)


def _public(path: Path) -> object:
    """Return the public half of a key; None where there is no key or it is damaged."""
    try:
        return serialization.load_pem_private_key(path.read_bytes(), None).public_key()
    except (FileNotFoundError, ValueError, TypeError, UnsupportedAlgorithm):
        return None


def _make(keyring: Keyring, now: datetime, service_address: str) -> None:
    authority_key = _key()
    authority_name = _name("windtunnel-ca")
    authority = (
        _draft(authority_name, authority_name, authority_key, now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in SERVER_NAMES]
    names += [
        x509.IPAddress(ipaddress.ip_address(address))
        for address in ("127.0.0.1", "::1", service_address)
    ]
    server_key, admin_key = _key(), _key()
    server = (
        _draft(_name("kube-apiserver"), authority_name, server_key, now)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(_usage(), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(_signed_by(authority_key), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    admin = (
        _draft(_name("kubernetes-admin", "system:masters"), authority_name, admin_key, now)
        .add_extension(_usage(), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(_signed_by(authority_key), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    write_private(keyring.folder / "ca.key", _key_pem(authority_key))
    write_private(keyring.server_key, _key_pem(server_key))
    write_private(keyring.admin_key, _key_pem(admin_key))
    write_private(keyring.server, _pem(server))
    write_private(keyring.admin, _pem(admin))
    # Last, so that an authority is never found without what it has signed.
    write_private(keyring.authority, _pem(authority))


def _draft(
    subject: x509.Name, issuer: x509.Name, key: Key, now: datetime
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


def _signed_by(authority_key: Key) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())


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


def _key() -> Key:
    return ec.generate_private_key(ec.SECP256R1())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: Key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
