from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest
from tests.apiserver.api import Api, config, obj

from windtunnel.machinery.admission import Reply

HOOKS = "/apis/admissionregistration.k8s.io/v1"


def hook(sort: str, **fields: Any) -> dict[str, Any]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    webhook = {
        "name": "a.b.c", "clientConfig": {"url": "https://x/y"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": [rule], **fields,
    }  # fmt: skip
    kind = f"{sort.capitalize()}WebhookConfiguration"
    return obj("admissionregistration.k8s.io/v1", kind, "w", webhooks=[webhook])


class Answering:
    """Answers asks of an Api as they come."""

    def __init__(self, api: Api, **response: Any) -> None:
        self._api, self._response = api, response

    def pop(self, _: int) -> Reply:
        uid = msgspec.json.decode(self._api.asked[-1].body)["request"]["uid"]
        return Reply(body=msgspec.json.encode({"response": {"uid": uid, **self._response}}))

    def __bool__(self) -> bool:
        return True


def test_a_webhook_is_asked_with_the_whole_story(api: Api, ns: str) -> None:
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating", timeoutSeconds=3))
    api.replies = Answering(api, allowed=True, warnings=["careful"])  # type: ignore[assignment]

    answer = api.answer("POST", f"{ns}/configmaps", config("m"))

    assert answer.status == 201
    assert ("Warning", '299 - "careful"') in answer.headers
    (asked,) = api.asked
    assert (asked.url, asked.timeout_seconds) == ("https://x/y?timeout=3s", 3.0)
    request = msgspec.json.decode(asked.body)["request"]
    assert (request["operation"], request["name"], request["namespace"]) == ("CREATE", "m", "ns")
    assert request["userInfo"]["username"] == "admin"
    assert (
        request["object"]["metadata"]["uid"] == msgspec.json.decode(answer.body)["metadata"]["uid"]
    )


def test_a_webhook_says_no_in_its_own_words(api: Api, ns: str) -> None:
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating"))
    api.replies = Answering(api, allowed=False, status={"code": 418, "message": "no"})  # type: ignore[assignment]

    assert api.refused("POST", f"{ns}/configmaps", config("m")) == (
        418,
        'admission webhook "a.b.c" denied the request: no',
    )


def test_a_webhook_changes_objects(api: Api, ns: str) -> None:
    api.post(f"{HOOKS}/mutatingwebhookconfigurations", hook("mutating"))
    patch = base64.b64encode(b'[{"op":"add","path":"/data","value":{"a":"b"}}]').decode()
    api.replies = Answering(api, allowed=True, patch=patch, patchType="JSONPatch")  # type: ignore[assignment]

    assert api.post(f"{ns}/configmaps", config("m"))["data"] == {"a": "b"}


@pytest.mark.parametrize(("policy", "status"), [("Fail", 500), ("Ignore", 201)])
def test_a_failing_webhook(api: Api, ns: str, policy: str, status: int) -> None:
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating", failurePolicy=policy))

    assert api.send("POST", f"{ns}/configmaps", config("m"))[0] == status


UNASKED = {
    "another resource": ({}, "secrets"),
    "another namespace": ({"namespaceSelector": {"matchLabels": {"x": "y"}}}, "configmaps"),
    "another object": ({"objectSelector": {"matchLabels": {"x": "y"}}}, "configmaps"),
}


@pytest.mark.parametrize(("fields", "plural"), UNASKED.values(), ids=UNASKED)
def test_a_webhook_is_asked_only_about_what_it_wants(
    api: Api, ns: str, fields: dict[str, Any], plural: str
) -> None:
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating", **fields))

    api.post(f"{ns}/{plural}", {"metadata": {"name": "m"}})

    assert api.asked == []


def test_a_webhook_with_side_effects_forbids_dry_runs(api: Api, ns: str) -> None:
    unsure = hook("validating")
    unsure["webhooks"][0]["sideEffects"] = "NoneOnDryRun"
    api.post(f"{HOOKS}/validatingwebhookconfigurations", unsure)
    api.replies = Answering(api, allowed=True)  # type: ignore[assignment]

    assert api.post(f"{ns}/configmaps?dryRun=All", config("m"))["metadata"]["name"] == "m"


def test_a_webhook_of_a_service_is_called_at_its_endpoint(api: Api, ns: str) -> None:
    api.post(
        f"{ns}/services",
        obj("v1", "Service", "s", spec={"ports": [{"port": 443, "targetPort": 9443}]}),
    )
    labels = {"labels": {"kubernetes.io/service-name": "s"}}
    slices = f"/apis/discovery.k8s.io/v1{ns.removeprefix('/api/v1')}/endpointslices"
    api.post(
        slices,
        obj(
            "discovery.k8s.io/v1", "EndpointSlice", "s-1", metadata=labels, addressType="IPv4",
            endpoints=[{"addresses": ["10.42.0.5"]}], ports=[{"name": "", "port": 9443}],
        ),
    )  # fmt: skip
    client = {"service": {"name": "s", "namespace": "ns", "path": "/v"}}
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating", clientConfig=client))
    api.replies = Answering(api, allowed=True)  # type: ignore[assignment]

    api.post(f"{ns}/configmaps", config("m"))

    (asked,) = api.asked
    assert asked.url.startswith("https://10.42.0.5:9443/v")
    assert asked.server_name == "s.ns.svc"
