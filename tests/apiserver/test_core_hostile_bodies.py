"""Whatever is sent as a body, to whatever kind: it is refused in words, and nothing breaks."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.apiserver.api import APPLY, JSON_PATCH, MERGE, STRATEGIC, Api, obj
from tests.apiserver.bodies import json_patch, of_shape
from windtunnel.apiserver.forms.nesting import MOST_LEVELS
from windtunnel.apiserver.request import Answer
from windtunnel.kinds import Kind, structure_of
from windtunnel.machinery.tree import Tree

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIG: Final = "/api/v1/namespaces/ns/configmaps/m"
FOO: Final = "/apis/ex.io/v1/namespaces/ns/foos/f"
FOOS: Tree = obj(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "foos.ex.io",
    spec={
        "group": "ex.io",
        "scope": "Namespaced",
        "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "replicas": {"type": "integer", "default": 1},
                                    "parts": {
                                        "type": "array",
                                        "items": {
                                            "type": "object",
                                            "properties": {"n": {"type": "string"}},
                                            "required": ["n"],
                                        },
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["n"],
                                    },
                                    "any": {"x-kubernetes-preserve-unknown-fields": True},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
)
OWN_WORDS: Final = (
    "failed to create typed patch object",
    "failed to convert new object",
    "target.",
    "[target.",
    "resourceVersion should not be set",
    "strconv.ParseUint",
    "does not contain declared merge key",
    "list element types are not identical",
    "unknown patch type",
    "Object 'apiVersion' is missing",
    "specReplicasPath",
)
"""What the real server answers with 500 too."""
METHODS: Final = st.sampled_from(("POST", "POST", "PUT", "PATCH", "PATCH", "PATCH", "DELETE"))


def prepared() -> Api:
    api = Api()
    path = api.namespace()
    api.post(DEFINITIONS, FOOS)
    api.post(f"{path}/configmaps", obj("v1", "ConfigMap", "m"))
    api.post(FOO.removesuffix("/f"), obj("ex.io/v1", "Foo", "f", spec={}))
    return api


@pytest.fixture(scope="module")
def shared_api() -> Api:
    return prepared()


def kinds_of(api: Api) -> list[Kind]:
    kinds = list(api.core.catalogue)
    assert "foos.ex.io" in {kind.resource for kind in kinds}
    return kinds


def path_of(kind: Kind) -> str:
    root = f"/apis/{kind.group}" if kind.group else "/api"
    return f"{root}/{kind.version}{'/namespaces/ns' if kind.namespaced else ''}/{kind.plural}"


def check(outcome: Any) -> None:
    assert isinstance(outcome, Answer)
    if outcome.status == 500:
        message = msgspec.json.decode(outcome.body)["message"]
        assert any(words in message for words in OWN_WORDS), message


@settings(max_examples=400)
@given(chosen=st.data())
def test_no_body_breaks_a_write(shared_api: Api, chosen: st.DataObject) -> None:
    api, draw = shared_api, chosen.draw
    kind = draw(st.sampled_from(kinds_of(api)))
    method = draw(METHODS)
    name = draw(st.sampled_from(("x0", "x1")))
    wrong = draw(st.sampled_from((0, 2, 10, 40)))
    tree = of_shape(draw, kind.structure(), wrong=wrong)
    if isinstance(tree, dict) and draw(st.integers(0, 9)):
        tree |= {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {"name": name}}
    path = path_of(kind) + ("" if method == "POST" else f"/{name}")
    if kind.subresources and not draw(st.integers(0, 3)):
        part = draw(st.sampled_from(sorted(kind.subresources)))
        path = f"{path_of(kind)}/{name}/{part}"
    media, body = draw(st.sampled_from(("application/json", "application/yaml"))), tree
    if method == "PATCH":
        media = draw(st.sampled_from((MERGE, STRATEGIC, JSON_PATCH, APPLY)))
        body = json_patch(draw, tree) if media == JSON_PATCH else tree
        path += "?fieldManager=m&force=true" if media == APPLY else ""
    elif method == "DELETE":
        options = structure_of("policy", "v1", "Eviction").fields["deleteOptions"]
        body = of_shape(draw, options, wrong=20)
    written = yaml.safe_dump(body).encode() if media.endswith("yaml") else body
    check(api.request(method, path, written, content_type=media))
    for version in api.store.list(kind.store):
        assert version.tree()["metadata"]["name"] == version.key.name


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def patches_of(value: str) -> dict[str, bytes]:
    """Return the patches of all forms that give the object a field ``spec.any``."""
    head = '"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"f"}'
    return {
        MERGE: b'{"spec":{"any":%s}}' % value.encode(),
        JSON_PATCH: b'[{"op":"add","path":"/spec/any","value":%s}]' % value.encode(),
        APPLY: b'{%s,"spec":{"any":%s}}' % (head.encode(), value.encode()),
    }


@pytest.mark.parametrize("media", patches_of(""))
def test_what_is_deep_but_not_too_deep_is_stored(media: str) -> None:
    api = prepared()
    value = nested(MOST_LEVELS - 10)
    how = "?fieldManager=x&force=true" if media == APPLY else ""

    api.ok("PATCH", FOO + how, patches_of(value)[media], content_type=media)

    assert api.get(FOO)["spec"]["any"] == msgspec.json.decode(value)
    api.patch(FOO, {"metadata": {"labels": {"a": "b"}}})
    api.put(FOO, api.get(FOO))


@pytest.mark.parametrize("levels", [200, 1_000, 10_000, 200_000])
@pytest.mark.parametrize("media", patches_of(""))
def test_what_is_too_deep_is_refused(shared_api: Api, media: str, levels: int) -> None:
    how = "?fieldManager=x&force=true" if media == APPLY else ""

    patch = patches_of(nested(levels))[media]
    code, message = shared_api.refused("PATCH", FOO + how, patch, content_type=media)

    assert (code, "exceeded max depth" in message) == (400, True)


@pytest.mark.parametrize("steps", [300, 9_000])
def test_a_patch_cannot_nest_deeper_than_a_body(steps: int) -> None:
    api = prepared()
    api.patch(FOO, {"spec": {"any": {"a": {}}}})
    copies = [{"op": "copy", "from": "/spec/any", "path": "/spec/any/a"}] * steps

    code, _ = api.refused("PATCH", FOO, copies, content_type=JSON_PATCH)

    assert code == 422
    assert api.get(FOO)["spec"]["any"] == {"a": {}}


UNKNOWN = 'no kind "{}" is registered for version "{}" in scheme "pkg/runtime/scheme.go:111"'
NAMELESS = "the name of the object (m based on URL) was undeterminable: name must be provided"
HEADS: dict[str, tuple[str, Tree, int, str]] = {
    "another version": (CONFIG, {"apiVersion": "x"}, 422, UNKNOWN.format("ConfigMap", "x")),
    "no version": (CONFIG, {"apiVersion": None}, 400, NAMELESS),
    "no group": (CONFIG, {"apiVersion": "a/b/c"}, 422, "unexpected GroupVersion string: a/b/c"),
    "a number for a version": (CONFIG, {"apiVersion": 1}, 422, "struct field .apiVersion of type"),
    "an unknown kind": (CONFIG, {"kind": "x"}, 422, UNKNOWN.format("x", "v1")),
    "another kind": (CONFIG, {"kind": "Pod"}, 422, "(v1.Pod) to (core.ConfigMap): unknown"),
    "another name": (CONFIG, {"metadata": {"name": "o"}}, 400, "(o) does not match the name on"),
    "no name": (CONFIG, {"metadata": {"name": None}}, 400, NAMELESS),
    "a number for a name": (CONFIG, {"metadata": {"name": 1}}, 422, "ObjectMeta.metadata.name of"),
    "another uid": (CONFIG, {"metadata": {"uid": "o"}}, 422, "field is immutable"),
    "no metadata": (CONFIG, {"metadata": None}, 400, NAMELESS),
    "a number for metadata": (CONFIG, {"metadata": 1}, 422, "ConfigMap.metadata of type v1.Object"),
    "another kind of a custom object": (FOO, {"kind": "x"}, 422, 'value: "x": must be Foo'),
    "another version of a custom object": (FOO, {"apiVersion": "x"}, 422, "must be ex.io/v1"),
    "no kind of a custom object": (FOO, {"kind": None}, 422, "Object 'Kind' is missing in"),
    "a number for custom metadata": (FOO, {"metadata": 1}, 422, "Go value of type v1.ObjectMeta"),
}


@pytest.mark.parametrize(("path", "patch", "code", "words"), HEADS.values(), ids=HEADS)
def test_a_patch_may_not_make_another_object(
    shared_api: Api, path: str, patch: Tree, code: int, words: str
) -> None:
    before = shared_api.get(path)

    refused = shared_api.refused("PATCH", path, patch, content_type=MERGE)

    assert (refused[0], words in refused[1]) == (code, True), refused[1]
    assert shared_api.get(path) == before


@pytest.mark.parametrize("patch", [{"apiVersion": "x"}, {"kind": "Pod"}, {"kind": None}])
def test_a_strategic_patch_says_nothing_of_kind_and_version(shared_api: Api, patch: Tree) -> None:
    made = shared_api.patch(CONFIG, patch, STRATEGIC)

    assert (made["kind"], made["apiVersion"]) == ("ConfigMap", "v1")


@pytest.mark.parametrize("value", [None, "x", 1, []])
def test_a_patch_may_not_make_something_that_is_no_object(shared_api: Api, value: Any) -> None:
    patch = [{"op": "replace", "path": "", "value": value}]

    assert shared_api.refused("PATCH", CONFIG, patch, content_type=JSON_PATCH)[0] == 422


OPTIONS = {
    "a number": (1, "couldn't get version/kind; json parse error: json: cannot unmarshal number"),
    "a number for a dry run": (
        {"dryRun": 1},
        "json: cannot unmarshal number into Go struct field DeleteOptions.dryRun of type []string",
    ),
    "a number for a uid": (
        {"preconditions": {"uid": 1}},
        "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of",
    ),
    "another kind": ({"kind": "Foo"}, UNKNOWN.format("Foo", "meta.k8s.io/v1")),
}


@pytest.mark.parametrize(("options", "words"), OPTIONS.values(), ids=OPTIONS)
def test_options_of_a_delete_have_types(shared_api: Api, options: Any, words: str) -> None:
    code, message = shared_api.refused("DELETE", CONFIG, options)

    assert (code, message.startswith(words)) == (400, True), message


POD = "/api/v1/namespaces/ns/pods/p"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
TOKEN = "/api/v1/namespaces/ns/serviceaccounts/default/token"
POSTED = {
    "an eviction": (f"{POD}/eviction", {"deleteOptions": 1}, "Eviction.deleteOptions of type"),
    "its metadata": (f"{POD}/eviction", {"metadata": 1}, "Eviction.metadata of type"),
    "a binding": (f"{POD}/binding", {"target": 1}, "Binding.target of type v1.ObjectReference"),
    "a token": (TOKEN, {"spec": 1}, "TokenRequest.spec of type v1.TokenRequestSpec"),
    "its seconds": (TOKEN, {"spec": {"expirationSeconds": "x"}}, "expirationSeconds of type int64"),
    "its audiences": (TOKEN, {"spec": {"audiences": [1]}}, "spec.audiences of type string"),
    "a review": (ACCESS, {"spec": {"user": 1}}, "SubjectAccessReviewSpec.spec.user of type string"),
}


@pytest.mark.parametrize(("path", "body", "words"), POSTED.values(), ids=POSTED)
def test_what_is_posted_and_not_stored_has_types_too(
    shared_api: Api, path: str, body: Tree, words: str
) -> None:
    code, message = shared_api.refused("POST", path, body)

    assert (code, "cannot be handled as a" in message, words in message) == (400, True, True)


@pytest.mark.parametrize("items", [[], [1], [{"type": "string"}], True, 1, "x"])
@pytest.mark.parametrize("list_type", ["map", "set", "atomic"])
def test_items_of_a_definition_are_one_schema(shared_api: Api, items: Any, list_type: str) -> None:
    definition = msgspec.json.decode(msgspec.json.encode(FOOS))
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    parts = schema["properties"]["spec"]["properties"]["parts"]
    parts |= {"items": items, "x-kubernetes-list-type": list_type}

    code, message = shared_api.refused("POST", f"{DEFINITIONS}?dryRun=All", definition)

    assert (code, "items must be a schema object and not an array" in message) == (422, True)
