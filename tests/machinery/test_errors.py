"""Refusals carry the Status body of the real server."""

from __future__ import annotations

import pytest

from windtunnel.machinery import errors
from windtunnel.machinery.violations import duplicate, forbidden, invalid, not_supported, required


def test_one_violation_is_printed_plain() -> None:
    refusal = errors.Invalid("Pod", "", "p", [required("spec.containers")])

    assert refusal.to_status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'Pod "p" is invalid: spec.containers: Required value',
        "reason": "Invalid",
        "details": {
            "name": "p",
            "kind": "Pod",
            "causes": [
                {
                    "reason": "FieldValueRequired",
                    "message": "Required value",
                    "field": "spec.containers",
                }
            ],
        },
        "code": 422,
    }


def test_several_violations_are_printed_as_a_list() -> None:
    refusal = errors.Invalid(
        "Deployment", "apps", "d", [required("a", "why"), forbidden("b", "no")]
    )

    assert refusal.message == (
        'Deployment.apps "d" is invalid: [a: Required value: why, b: Forbidden: no]'
    )
    assert refusal.details is not None
    assert refusal.details["group"] == "apps"


def test_values_are_printed_as_the_validation_library_does() -> None:
    assert str(invalid("f", "500m", "must be an integer")) == (
        'f: Invalid value: "500m": must be an integer'
    )
    assert str(invalid("f", -1, "no")) == "f: Invalid value: -1: no"
    assert str(duplicate("f", {"a": 1})) == 'f: Duplicate value: {"a":1}'
    assert str(not_supported("f", "x", ["A", "B"])) == (
        'f: Unsupported value: "x": supported values: "A", "B"'
    )


def test_names_are_qualified_by_the_group_only_where_there_is_one() -> None:
    assert errors.NotFound.of("pods", "", "p").message == 'pods "p" not found'
    assert errors.AlreadyExists.of("jobs", "batch", "j").message == (
        'jobs.batch "j" already exists'
    )
    assert errors.NotFound.resource().to_status()["details"] == {}


SENT: dict[str, errors.ApiError] = {
    "a missing object": errors.NotFound.of("pods", "", "p"),
    "a missing resource": errors.NotFound.resource(),
    "a conflict": errors.Conflict.of("pods", "", "p", errors.MODIFIED),
    "violations": errors.Invalid("Pod", "", "p", [required("spec.a"), required("spec.b")]),
    "not now": errors.TooManyRequests("later", retry_after_seconds=10),
}


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_a_refusal_is_read_back_as_it_was_sent(sent: errors.ApiError) -> None:
    got = errors.refusal(sent.to_status())

    assert type(got) is type(sent)
    assert got.to_status() == sent.to_status()
    if isinstance(sent, errors.Invalid):
        assert isinstance(got, errors.Invalid)
        assert got.violations == sent.violations


def test_an_unknown_reason_becomes_the_general_error_of_its_code() -> None:
    assert isinstance(errors.refusal({"reason": "Strange", "code": 409}), errors.AlreadyExists)
    assert type(errors.refusal({"code": 418, "message": "tea"})) is errors.ApiError


def test_a_stranger_s_kind_of_refusal_is_never_read_back() -> None:
    class Odd(errors.ApiError):
        code, reason = 422, "Invalid"

    assert isinstance(errors.refusal({"reason": "Invalid", "code": 422}), errors.Invalid)
    assert Odd.reason == "Invalid"
