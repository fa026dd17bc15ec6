from __future__ import annotations

import pytest

from windtunnel.apiserver.forms.negotiation import (
    Form,
    accepted,
    body_form,
    patch_form,
    wants_pretty,
)
from windtunnel.machinery.errors import NotAcceptable, UnsupportedMediaType

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
ACCEPTED = {
    "nothing said": ("", Form()),
    "anything": ("*/*", Form()),
    "protobuf first, JSON will do": (
        "application/vnd.kubernetes.protobuf,application/json",
        Form(),
    ),
    "protobuf or anything": ("application/vnd.kubernetes.protobuf, */*", Form()),
    "YAML": ("application/yaml", Form("application/yaml")),
    "a table": (f"{TABLE},application/json", Form(as_kind="Table")),
    "an unknown form is skipped": (
        "application/json;as=Foo;v=v1;g=meta.k8s.io,application/json",
        Form(),
    ),
    "weights count": ("application/yaml;q=0.1,application/json", Form()),
    "aggregated discovery": (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
        Form(discovery="v2"),
    ),
}


@pytest.mark.parametrize(("accept", "want"), ACCEPTED.values(), ids=ACCEPTED)
def test_the_first_clause_that_can_be_met_is_taken(accept: str, want: Form) -> None:
    assert accepted(accept) == want


@pytest.mark.parametrize(
    ("accept", "words"),
    [
        ("text/html", "406: Not Acceptable"),
        ("application/json;as=Foo;v=v1;g=meta.k8s.io", "only the following media types"),
    ],
)
def test_what_cannot_be_met_is_refused(accept: str, words: str) -> None:
    with pytest.raises(NotAcceptable, match=words):
        accepted(accept)


@pytest.mark.parametrize(
    ("content_type", "media"),
    [
        (None, "application/json"),
        ("application/json; charset=utf-8", "application/json"),
        ("application/yaml", "application/yaml"),
    ],
)
def test_the_form_of_a_body(content_type: str | None, media: str) -> None:
    assert body_form(content_type) == media


def test_an_unknown_body_is_refused() -> None:
    with pytest.raises(UnsupportedMediaType, match="accepted media types include"):
        body_form("text/plain")


def test_custom_kinds_know_no_strategic_merge() -> None:
    strategic = "application/strategic-merge-patch+json"

    assert patch_form(strategic) == "strategic"
    with pytest.raises(UnsupportedMediaType, match="application/merge-patch"):
        patch_form(strategic, strategic=False)


@pytest.mark.parametrize(
    ("pretty", "agent", "want"),
    [
        ("", "kubectl/v1", False),
        ("", "curl/8", True),
        ("true", "", True),
        ("false", "curl/8", False),
    ],
)
def test_humans_get_indented_json(pretty: str, agent: str, want: bool) -> None:
    assert wants_pretty(pretty, agent) is want
