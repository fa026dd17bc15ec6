from __future__ import annotations

from tests.apiserver.api import Api, obj


def test_a_policy_in_cel_warns_that_it_is_not_enforced(api: Api) -> None:
    binding = obj(
        "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "b",
        spec={"policyName": "p", "validationActions": ["Deny"]},
    )  # fmt: skip

    answer = api.answer(
        "POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", binding
    )

    assert answer.status == 201
    assert any("not enforced here" in value for _, value in answer.headers)
