from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from windtunnel.apiserver.access.tokens import Bound, Signer, claims_for


def claims(**changes: object) -> dict[str, object]:
    made = claims_for(
        namespace="ns", account="a", account_uid="u", audiences=["x"], now=10.0, expires=70.0,
        token_id="id", bound=Bound("Pod", "p", "pu"),
    )  # fmt: skip
    return {**made, **changes}


def test_a_signer_believes_its_own_tokens() -> None:
    signer = Signer.generate()

    assert signer.check(signer.sign(claims())) == claims()


def test_a_stored_key_signs_alike() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    stored = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    assert Signer.load(stored).check(Signer(key).sign(claims())) == claims()


def test_foreign_and_damaged_tokens_are_not_believed() -> None:
    signer, other = Signer.generate(), Signer.generate()
    token = signer.sign(claims())

    assert other.check(token) is None
    assert signer.check(token[:-4] + "AAAA") is None
    assert signer.check("a.b.c") is None
    assert signer.check(signer.sign(claims(iss="elsewhere"))) is None


def test_claims_name_the_account_and_what_the_token_is_bound_to() -> None:
    private = claims()["kubernetes.io"]

    assert private == {
        "namespace": "ns",
        "serviceaccount": {"name": "a", "uid": "u"},
        "pod": {"name": "p", "uid": "pu"},
    }


def test_the_public_key_is_published() -> None:
    signer = Signer.generate()

    (key,) = signer.key_set()["keys"]
    assert (key["kid"], key["alg"]) == (signer.key_id, "ES256")
