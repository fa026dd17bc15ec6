from __future__ import annotations

import base64

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.apiserver.api import Api, obj


def signing_request() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    made = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    pem = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return base64.b64encode(pem).decode()


def test_a_signing_request_names_who_made_it(api: Api) -> None:
    spec = {"request": signing_request(), "signerName": "example.com/s", "usages": ["client auth"]}
    tree = obj("certificates.k8s.io/v1", "CertificateSigningRequest", "r")
    tree["spec"] = {**spec, "username": "somebody"}
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

    made = api.post(path, tree)
    assert made["spec"]["username"] == "admin"
    condition = {"type": "Approved", "status": "True", "reason": "r"}
    made["status"] = {"conditions": [condition]}
    decided = api.put(f"{path}/r/approval", made)
    assert decided["status"]["conditions"][0]["lastUpdateTime"]
    decided["status"]["conditions"].append({"type": "Denied", "status": "True", "reason": "r"})
    assert "Denied" in api.refused("PUT", f"{path}/r/approval", decided)[1]
