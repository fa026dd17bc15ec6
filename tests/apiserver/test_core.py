from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.api import Api, config


def test_rights_are_judged_before_anything_is_known_to_exist(api: Api) -> None:
    code, text = api.refused("GET", "/apis/nope.io/v1/things/x", user="alice")

    assert code == 403
    assert text.startswith('things.nope.io "x" is forbidden')


def test_a_body_over_the_limit_is_refused(api: Api, ns: str) -> None:
    huge = config("m", data={"a": "x" * 3_200_000})

    assert api.refused("POST", f"{ns}/configmaps", huge) == (
        413,
        "Request entity too large: limit is 3145728",
    )


def test_an_empty_path_part_is_not_found(api: Api) -> None:
    assert api.refused("GET", "/api//v1/namespaces")[0] == 404


def test_a_refusal_carries_the_warnings_of_the_request(api: Api, ns: str) -> None:
    answer = api.answer("POST", f"{ns}/configmaps", {"metadata": {"name": "M"}, "foo": 1})

    assert answer.status == 422
    assert any(name == "Warning" for name, _ in answer.headers)
    assert answer.revision == api.store.revision


def test_deprecated_kinds_warn_whoever_uses_them(api: Api) -> None:
    headers = api.answer("GET", "/api/v1/endpoints").headers

    assert any("use discovery.k8s.io/v1 EndpointSlice" in value for _, value in headers)


@pytest.mark.shared
def test_discovery_is_the_real_servers(api: Api, shared: Path) -> None:
    recorded = shared / "golden/api/openapi/discovery_resources.json.gz"
    for path, want in json.loads(gzip.decompress(recorded.read_bytes())).items():
        assert api.get(path) == want, path


UNMET = re.compile(r"admission-vap|crd-cel|watch-gone")
"""CEL is not evaluated yet; one answer names a revision of the server it was recorded on."""


def quick(case: dict[str, Any]) -> bool:
    """Whether a case needs no waiting and nothing from outside."""
    steps = [*case.get("setup", []), case["request"]]
    return not any("compact" in step or "gen" in step for step in steps)


@pytest.mark.shared
def test_every_recorded_request_gets_its_status(api: Api, shared: Path) -> None:
    """The bodies are compared by ``windtunnel conformance``; here only status codes are."""
    wrong = []
    for line in (shared / "golden/api/public.jsonl").read_text().splitlines():
        case = json.loads(line)
        if UNMET.match(case["id"]) or not quick(case) or (case.get("compare") or {}).get("watch"):
            continue
        variables: dict[str, str] = {}
        for step in case.get("setup", []):
            _play(api, step, variables)
        status = _play(api, case["request"], variables)
        if status != case["response"]["status"] and "webhook" not in case["id"]:
            wrong.append((case["id"], status, case["response"]["status"]))

    assert wrong == []


def _play(api: Api, step: dict[str, Any], variables: dict[str, str]) -> int:
    def filled(text: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], text)

    body: Any = None
    if "text" in step:
        body = filled(step["text"]).encode()
    elif "body" in step:
        body = json.loads(filled(json.dumps(step["body"])))
    headers = {name.lower(): value for name, value in (step.get("headers") or {}).items()}
    who = step.get("as", "admin")
    if who not in ("admin", "alice"):
        return _as_somebody(api, step, who, body)
    answer = api.answer(
        step["method"],
        filled(step["path"]),
        body,
        content_type=headers.get("content-type", "application/json"),
        accept=headers.get("accept", "application/json"),
        user=who,
        headers=headers,
    )
    for name, path in (step.get("capture") or {}).items():
        value: Any = json.loads(answer.body)
        for part in path.split("."):
            value = value[part]
        variables[name] = value
    return answer.status


def _as_somebody(api: Api, step: dict[str, Any], who: str, body: Any) -> int:
    token = {"anon": "", "bob": "alice"}.get(who, who)
    return api.answer(step["method"], step["path"], body, user=token).status


def test_a_deprecated_kind_warns_whoever_uses_it(api: Api, ns: str) -> None:
    headers = dict(api.answer("GET", f"{ns}/endpoints").headers)

    assert "v1 Endpoints is deprecated" in {k.lower(): v for k, v in headers.items()}["warning"]
