"""Tokens of service accounts: JWTs signed with the cluster's own key (ES256).

A token is believed when its signature and times are right and the objects it is bound to still
exist with the same uid. Source: service-account token claims of Kubernetes v1.36.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from windtunnel.machinery.tree import Tree, decode, encode

ISSUER: Final = "https://kubernetes.default.svc.cluster.local"
_COORDINATE_BYTES: Final = 32  # P-256


def _pack(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _unpack(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Signer:
    """Signs and checks tokens with one key."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, issuer: str = ISSUER) -> None:
        self._key = key
        self._public = key.public_key()
        der = self._public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.key_id = _pack(hashlib.sha256(der).digest())
        self.issuer = issuer

    @classmethod
    def generate(cls) -> Signer:
        """Return a signer with a fresh key."""
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def load(cls, pem: bytes) -> Signer:
        """Return the signer of a stored key."""
        key = serialization.load_pem_private_key(pem, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("the service-account key is not an elliptic-curve key")
        return cls(key)

    def key_set(self) -> Tree:
        """Return the public key as a JSON web key set."""
        numbers = self._public.public_numbers()
        return {
            "keys": [
                {
                    "use": "sig",
                    "kty": "EC",
                    "kid": self.key_id,
                    "crv": "P-256",
                    "alg": "ES256",
                    "x": _pack(numbers.x.to_bytes(_COORDINATE_BYTES, "big")),
                    "y": _pack(numbers.y.to_bytes(_COORDINATE_BYTES, "big")),
                }
            ]
        }

    def sign(self, claims: Tree) -> str:
        """Return the token that carries ``claims``."""
        header = _pack(encode({"alg": "ES256", "kid": self.key_id}))
        content = f"{header}.{_pack(encode(claims))}"
        r, s = decode_dss_signature(self._key.sign(content.encode(), ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(_COORDINATE_BYTES, "big") + s.to_bytes(_COORDINATE_BYTES, "big")
        return f"{content}.{_pack(signature)}"

    def check(self, token: str) -> Tree | None:
        """Return the claims of a token that this key signed, or None."""
        try:
            content, _, signature = token.rpartition(".")
            raw = _unpack(signature)
            if len(raw) != 2 * _COORDINATE_BYTES:
                return None
            pair = encode_dss_signature(
                int.from_bytes(raw[:_COORDINATE_BYTES], "big"),
                int.from_bytes(raw[_COORDINATE_BYTES:], "big"),
            )
            self._public.verify(pair, content.encode(), ec.ECDSA(hashes.SHA256()))
            claims: Any = decode(_unpack(content.partition(".")[2]))
        except (InvalidSignature, ValueError):
            return None
        return claims if isinstance(claims, dict) and claims.get("iss") == self.issuer else None


@dataclass(frozen=True, slots=True)
class Bound:
    """What a token is bound to, beside its account: an object that must live as long."""

    kind: str
    name: str
    uid: str


def claims_for(
    *,
    namespace: str,
    account: str,
    account_uid: str,
    audiences: list[str],
    now: float,
    expires: float,
    token_id: str,
    issuer: str = ISSUER,
    bound: Bound | None = None,
) -> Tree:
    """Return the claims of a token for a service account."""
    private: Tree = {
        "namespace": namespace,
        "serviceaccount": {"name": account, "uid": account_uid},
    }
    if bound is not None:
        private[bound.kind.lower()] = {"name": bound.name, "uid": bound.uid}
    return {
        "aud": audiences,
        "exp": int(expires),
        "iat": int(now),
        "iss": issuer,
        "jti": token_id,
        "kubernetes.io": private,
        "nbf": int(now),
        "sub": f"system:serviceaccount:{namespace}:{account}",
    }
