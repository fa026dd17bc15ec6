from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.machinery.conftest import MODELS

from windtunnel.kinds.served import recorded
from windtunnel.machinery.apply import (
    FieldSet,
    MistypedPatch,
    apply_patch,
    restore_times,
    track_update,
)
from windtunnel.machinery.apply.compare import appeared, changes
from windtunnel.machinery.apply.entries import Owner, bound, read
from windtunnel.machinery.apply.update import blank
from windtunnel.machinery.errors import ApiError, BadRequest, Conflict
from windtunnel.machinery.schema import Models, Structure, fill_defaults, from_custom_schema

Find = Callable[[str], Structure]

NOW, LATER = "2025-01-01T00:00:00Z", "2025-01-01T00:00:05Z"


def config_map(**data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data}


class Editor:
    """One object, written by several managers."""

    def __init__(self, structure: Structure, api_version: str = "v1") -> None:
        self.structure, self.api_version = structure, api_version
        self.tree: dict[str, Any] | None = None
        self.now = NOW

    def update(self, manager: str, tree: Any, *, subresource: str = "", **more: Any) -> Any:
        tree = copy.deepcopy(tree)
        if self.structure.model:
            fill_defaults(self.structure, tree)
        track_update(
            self.tree, tree, self.structure, manager=manager, api_version=self.api_version,
            subresource=subresource, now=self.now, **more,
        )  # fmt: skip
        self.tree = tree
        return tree

    def apply(self, manager: str, tree: Any, *, force: bool = False, **more: Any) -> Any:
        before = copy.deepcopy((self.tree, tree))
        applied = apply_patch(
            self.tree, tree, self.structure, manager=manager, force=force,
            api_version=self.api_version, now=self.now, **more,
        )  # fmt: skip
        assert (self.tree, tree) == before, "nothing that is handed in changes"
        if self.structure.model:
            fill_defaults(self.structure, applied)
        self.tree = applied
        return applied

    def owned(self) -> dict[str, FieldSet]:
        assert self.tree is not None
        return {
            f"{entry['manager']} {entry['operation']}": entry["fieldsV1"]
            for entry in self.tree["metadata"].get("managedFields", [])
        }


@pytest.fixture
def editor(structure: Find) -> Editor:
    return Editor(structure("core.v1.ConfigMap"))


def test_who_creates_an_object_owns_what_it_set(editor: Editor) -> None:
    tree = config_map(a="1")
    tree["metadata"] |= {"labels": {"x": "y"}, "uid": "u", "resourceVersion": "1"}

    editor.update("m1", tree)

    assert editor.owned() == {
        "m1 Update": {
            "f:data": {".": {}, "f:a": {}},
            "f:metadata": {"f:labels": {".": {}, "f:x": {}}},
        }
    }


def test_structs_that_are_always_there_are_not_owned_but_their_fields_are(structure: Find) -> None:
    editor = Editor(structure("core.v1.Pod"))

    editor.update("m1", {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}})

    assert editor.owned() == {
        "m1 Update": {
            "f:spec": {
                "f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}, "f:resources": {}}}
            }
        }
    }


def test_a_field_may_be_taken_apart_where_its_model_is_not(structure: Find) -> None:
    volume, event = (
        Editor(structure("core.v1.PersistentVolume")),
        Editor(structure("core.v1.Event")),
    )

    volume.update("m1", {"metadata": {"name": "v"}, "spec": {"claimRef": {"name": "c"}}})
    event.update("m1", {"metadata": {"name": "e"}, "involvedObject": {"name": "p"}})

    assert volume.owned()["m1 Update"]["f:spec"] == {"f:claimRef": {".": {}, "f:name": {}}}
    assert event.owned() == {"m1 Update": {"f:involvedObject": {}}}


def test_a_changed_field_goes_to_who_changed_it(editor: Editor) -> None:
    editor.update("m1", config_map(a="1", b="2"))
    editor.now = LATER

    editor.update("m2", config_map(a="5", b="2"))

    assert editor.owned() == {
        "m1 Update": {"f:data": {".": {}, "f:b": {}}},
        "m2 Update": {"f:data": {"f:a": {}}},
    }


def test_a_removed_field_belongs_to_nobody(editor: Editor) -> None:
    editor.update("m1", config_map(a="1", b="2"))

    editor.update("m2", config_map(a="1"))

    assert editor.owned() == {"m1 Update": {"f:data": {".": {}, "f:a": {}}}}


def test_a_write_that_changes_nothing_moves_nothing(editor: Editor) -> None:
    before = editor.update("m1", config_map(a="1"))
    editor.now = LATER

    assert editor.update("m2", config_map(a="1")) == before


def test_through_a_subresource_the_entry_says_so_and_what_it_cannot_set_is_ignored(
    structure: Find,
) -> None:
    editor = Editor(structure("core.v1.Pod"))
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    editor.update("m1", pod, ignore={"f:status": {}})

    running = {**pod, "status": {"phase": "Running"}}
    tree = editor.update("kubelet", running, subresource="status", ignore={"f:spec": {}})

    assert tree["metadata"]["managedFields"][0] == {
        "manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": NOW,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {"f:phase": {}}},
        "subresource": "status",
    }  # fmt: skip


@pytest.mark.parametrize("reset", [[], [{}]])
def test_managed_fields_can_be_cleared_and_stay_so(editor: Editor, reset: Any) -> None:
    editor.update("m1", config_map(a="1"))
    tree = config_map(a="2")
    tree["metadata"]["managedFields"] = reset

    editor.update("m2", tree)
    editor.update("m3", config_map(a="3"))

    assert editor.owned() == {}


def test_managed_fields_can_be_written_as_a_plain_value(editor: Editor) -> None:
    editor.update("m1", config_map(a="1"))
    tree = config_map(a="1")
    entry = {
        "manager": "x", "operation": "Apply", "apiVersion": "v1", "time": NOW,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}},
    }  # fmt: skip
    tree["metadata"]["managedFields"] = [entry]

    assert editor.update("m2", tree)["metadata"]["managedFields"] == [entry]


def test_malformed_managed_fields_are_passed_over(editor: Editor) -> None:
    editor.update("m1", config_map(a="1"))
    tree = config_map(a="1")
    tree["metadata"]["managedFields"] = [{"manager": "x", "operation": "Frob"}]

    editor.update("m2", tree)

    assert list(editor.owned()) == ["m1 Update"]


def test_sets_that_are_malformed_deep_inside_are_passed_over(editor: Editor) -> None:
    editor.update("m1", config_map(a="1"))
    tree = config_map(a="2")
    tree["metadata"]["managedFields"] = [
        {"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
         "fieldsV1": {"f:data": {"f:a": 5}}}
    ]  # fmt: skip

    editor.update("m2", tree)

    assert editor.owned() == {"m2 Update": {"f:data": {"f:a": {}}}, "m1 Update": {"f:data": {}}}


def test_of_many_updaters_the_oldest_are_merged(editor: Editor) -> None:
    for number in range(12):
        editor.now = f"2025-01-01T00:00:{number:02d}Z"
        data = {f"k{n}": "1" for n in range(number + 1)}
        editor.update(f"m{number:02d}", config_map(**data))

    owned = editor.owned()
    assert len(owned) == 10
    assert owned["ancient-changes Update"] == {
        "f:data": {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}}
    }


def test_entries_of_different_versions_are_not_merged_together() -> None:
    written = [
        {"manager": f"m{n:02d}", "operation": "Update", "apiVersion": f"v{n}", "time": NOW,
         "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {}}}
        for n in range(11)
    ]  # fmt: skip
    entries = read(written)
    assert entries is not None

    bound(entries)

    assert len(entries) == 11


def test_an_applier_owns_leaves_only(editor: Editor) -> None:
    editor.apply("m1", config_map(a="1"))

    assert editor.owned() == {"m1 Apply": {"f:data": {"f:a": {}}}}


def test_what_an_applier_no_longer_names_goes_if_nobody_else_owns_it(editor: Editor) -> None:
    editor.apply("m1", config_map(a="1", b="2"))
    editor.apply("m2", config_map(b="2"))

    tree = editor.apply("m1", config_map(c="3"))

    assert tree["data"] == {"b": "2", "c": "3"}


def test_a_whole_map_goes_with_its_last_owner(editor: Editor) -> None:
    editor.apply("m1", config_map(a="1"))

    tree = editor.apply("m1", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}})

    assert tree == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}


def test_the_time_moves_only_when_the_object_changes(editor: Editor) -> None:
    before = editor.apply("m1", config_map(a="1"))
    editor.now = LATER

    assert editor.apply("m1", config_map(a="1")) == before
    assert "time" not in editor.apply("m2", config_map(a="1"))["metadata"]["managedFields"][0]


def conflict_of(editor: Editor, manager: str, tree: Any) -> Any:
    with pytest.raises(Conflict) as refusal:
        editor.apply(manager, tree)
    return refusal.value.to_status()


def test_a_field_of_another_manager_is_a_conflict(editor: Editor) -> None:
    editor.update("creator", config_map(a="1"))

    status = conflict_of(editor, "m2", config_map(a="2"))

    assert status["message"] == (
        'Apply failed with 1 conflict: conflict with "creator" using v1: .data.a'
    )
    assert status["details"] == {
        "causes": [
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "creator" using v1',
                "field": ".data.a",
            }
        ]
    }


def test_several_conflicts_are_listed_by_manager(editor: Editor) -> None:
    editor.apply("m1", config_map(a="1", b="1"))
    editor.apply("m3", config_map(c="1"))

    status = conflict_of(editor, "m2", config_map(a="2", b="2", c="2"))

    assert status["message"] == (
        'Apply failed with 3 conflicts: conflicts with "m1":\n- .data.a\n- .data.b\n'
        'conflicts with "m3":\n- .data.c'
    )


def test_force_takes_the_fields(editor: Editor) -> None:
    editor.apply("m1", config_map(a="1", b="1"))

    tree = editor.apply("m2", config_map(a="2"), force=True)

    assert tree["data"] == {"a": "2", "b": "1"}
    assert editor.owned() == {
        "m1 Apply": {"f:data": {"f:b": {}}}, "m2 Apply": {"f:data": {"f:a": {}}},
    }  # fmt: skip


def test_equal_values_are_shared(editor: Editor) -> None:
    editor.apply("m1", config_map(a="1"))
    editor.apply("m2", config_map(a="1"))

    assert editor.owned() == {name: {"f:data": {"f:a": {}}} for name in ("m1 Apply", "m2 Apply")}


def test_an_object_without_history_belongs_to_before_first_apply(editor: Editor) -> None:
    editor.tree = config_map(a="1", b="1")

    editor.apply("m1", config_map(a="1"))

    assert editor.owned() == {
        "m1 Apply": {"f:data": {"f:a": {}}},
        "before-first-apply Update": {"f:data": {".": {}, "f:a": {}, "f:b": {}}},
    }


def deployment(*containers: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"template": {"spec": {"containers": list(containers)}}},
    }  # fmt: skip


def names(tree: Any) -> list[str]:
    return [item["name"] for item in tree["spec"]["template"]["spec"]["containers"]]


def test_items_of_keyed_lists_belong_to_who_applied_them(structure: Find) -> None:
    editor = Editor(structure("apps.v1.Deployment"), "apps/v1")
    editor.apply("m1", deployment({"name": "c", "image": "1"}))
    editor.apply("m2", deployment({"name": "side", "image": "2"}))
    assert names(editor.tree) == ["c", "side"]

    conflict = conflict_of(editor, "m2", deployment({"name": "c", "image": "9"}))
    assert conflict["message"].endswith('.spec.template.spec.containers[name="c"].image')

    editor.apply("m1", deployment())
    assert names(editor.tree) == ["side"]


ORDERS = {
    "new items go to the end": ("ab", "c", "abc"),
    "the applied order holds": ("abc", "cb", "acb"),
    "live items keep their place around it": ("axb", "ab", "axb"),
    "and the applied side says where its new items go": ("ab", "axb", "axb"),
    "all turned around": ("abc", "cba", "cba"),
}


@pytest.mark.parametrize(("live", "applied", "want"), ORDERS.values(), ids=ORDERS.keys())
def test_keyed_lists_are_merged_in_order(
    structure: Find, live: str, applied: str, want: str
) -> None:
    editor = Editor(structure("apps.v1.Deployment"), "apps/v1")
    editor.update("u", deployment(*({"name": name} for name in live)))

    tree = editor.apply("m1", deployment(*({"name": name} for name in applied)))

    assert "".join(names(tree)) == want


def test_defaults_of_keys_name_an_item(structure: Find) -> None:
    editor = Editor(structure("apps.v1.Deployment"), "apps/v1")

    editor.apply("m1", deployment({"name": "c", "ports": [{"containerPort": 80}]}))

    template = editor.owned()["m1 Apply"]["f:spec"]["f:template"]
    container = template["f:spec"]["f:containers"]['k:{"name":"c"}']
    assert list(container["f:ports"]) == ['k:{"containerPort":80,"protocol":"TCP"}']


MISTYPED = {
    "an unknown field": (
        {"foo": 1}, "/d; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema",
    ),
    "a wrong type": ({"replicas": "x"}, '.spec.replicas: expected numeric (int or float), got '
                     "string"),
    "a list for a map": ({"selector": []}, ".spec.selector: expected map, got &{[]}"),
    "a key twice": (
        {"template": {"spec": {"containers": [{"name": "c"}, {"name": "c"}]}}},
        '.spec.template.spec.containers: duplicate entries for key [name="c"]',
    ),
    "an item that is no object": (
        {"template": {"spec": {"containers": [5]}}},
        ".spec.template.spec.containers: element 0: associative list with keys may not have "
        "non-map elements",
    ),
    "several, but no field after an unknown one": (
        {"paused": "x", "replicas": "x", "selectors": 1, "template": 5},
        "errors:\n  .spec.paused: expected boolean, got &{x}\n  .spec.replicas: expected numeric "
        "(int or float), got string\n  .spec.selectors: field not declared in schema",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "want"), MISTYPED.values(), ids=MISTYPED.keys())
def test_a_configuration_of_the_wrong_shape_is_refused(
    structure: Find, spec: Any, want: str
) -> None:
    editor = Editor(structure("apps.v1.Deployment"), "apps/v1")

    with pytest.raises(MistypedPatch) as refusal:
        editor.apply("m1", {**deployment(), "spec": spec})

    assert refusal.value.message.startswith("failed to create typed patch object (/d; apps/v1, ")
    assert refusal.value.message.endswith(want)
    assert (refusal.value.code, refusal.value.reason) == (500, "")


def test_a_configuration_says_its_kind_and_version_and_no_managed_fields(editor: Editor) -> None:
    with pytest.raises(BadRequest, match="invalid object type: /, Kind="):
        editor.apply("m1", {"metadata": {"name": "m"}})
    with pytest.raises(BadRequest, match="invalid object type: /v2, Kind=ConfigMap"):
        editor.apply("m1", {**config_map(), "apiVersion": "v2"})
    with pytest.raises(BadRequest, match="managedFields must be nil"):
        editor.apply("m1", {**config_map(), "metadata": {"name": "m", "managedFields": []}})


LAST = "kubectl.kubernetes.io/last-applied-configuration"


def test_kubectl_takes_over_what_it_applied_from_the_clients_side(editor: Editor) -> None:
    sent = config_map(a="1")
    tree = copy.deepcopy(sent)
    tree["metadata"]["annotations"] = {LAST: json.dumps(sent)}
    editor.update("kubectl-client-side-apply", tree)

    applied = editor.apply("kubectl", config_map(a="2"))

    assert applied["data"] == {"a": "2"}
    assert applied["metadata"]["annotations"][LAST] == (
        '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"m"}}\n'
    )


def test_but_not_what_others_set(editor: Editor) -> None:
    tree = config_map(a="1", b="1")
    tree["metadata"]["annotations"] = {LAST: json.dumps(config_map(a="1"))}
    editor.update("other", tree)

    status = conflict_of(editor, "kubectl", config_map(a="2", b="2"))

    assert status["message"].endswith('conflict with "other" using v1: .data.b')


WIDGET = from_custom_schema(
    {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
)


def widget(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"name": "w"}, **fields}


def test_in_custom_resources_nothing_is_always_there() -> None:
    editor = Editor(WIDGET, "x.io/v1")

    editor.update("m1", widget(spec={"n": 1}, free={"a": {"b": [1]}}))

    assert editor.owned() == {
        "m1 Update": {
            "f:spec": {".": {}, "f:n": {}},
            "f:free": {".": {}, "f:a": {".": {}, "f:b": {}}},
        }
    }


def test_fields_of_any_type_are_taken_apart_and_given_back() -> None:
    editor = Editor(WIDGET, "x.io/v1")
    editor.apply("m1", widget(free={"a": {"b": 1}, "c": 2}))
    editor.apply("m2", widget(free={"d": 3}))

    tree = editor.apply("m1", widget(free={"c": 2}))

    assert tree["free"] == {"c": 2, "d": 3}


def test_entries_that_differ_only_in_time_are_the_old_ones() -> None:
    entry = {"manager": "m", "operation": "Update", "fieldsV1": {"f:a": {}}, "time": NOW}
    old = {"metadata": {"managedFields": [entry]}}
    new = {"metadata": {"managedFields": [{**entry, "time": LATER}]}}
    other = {"metadata": {"managedFields": [{**entry, "manager": "x", "time": LATER}]}}

    restore_times(old, new)
    restore_times(old, other)

    assert new == old
    assert other["metadata"]["managedFields"][0]["time"] == LATER


def test_an_owner_tells_appliers_apart_from_updaters() -> None:
    assert Owner("m", "Apply", "", "").applies
    assert not Owner("m", "Update", "v1", "").applies


keys = st.sampled_from("abcd")
values = st.sampled_from("12")
steps = st.lists(
    st.tuples(
        st.sampled_from(["m1", "m2", "m3"]),
        st.sampled_from(["apply", "force", "update"]),
        st.dictionaries(keys, values, max_size=3),
    ),
    max_size=8,
)


@given(history=steps)
def test_every_owned_field_is_there_and_no_two_updaters_own_one(history: Any) -> None:
    editor = Editor(Models(recorded.schemas()).structure("io.k8s.api.core.v1.ConfigMap"))
    for manager, how, data in history:
        if how == "update":
            editor.update(manager, config_map(**data))
            continue
        try:
            editor.apply(manager, config_map(**data), force=how == "force")
        except Conflict:
            continue
    if editor.tree is None:
        return
    there = set(editor.tree.get("data") or {})
    updaters: list[str] = []
    for owner, fields in editor.owned().items():
        owned = {element[2:] for element in fields.get("f:data", {}) if element != "."}
        assert owned <= there
        if owner.endswith("Update"):
            updaters += owned
    assert len(updaters) == len(set(updaters))


trees = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b", "1Gi"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["metadata", "labels", "name", "spec", "containers", "env", "resources", "limits",
             "ports", "containerPort", "finalizers", "ownerReferences", "uid", "conditions",
             "type", "status", "nodeSelector", "tolerations"]
        ),
        inner, max_size=4,
    ),
    max_leaves=15,
)  # fmt: skip
bodies = st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), trees)


@given(history=st.lists(st.tuples(st.sampled_from(["m1", "m2"]), bodies), max_size=4))
def test_any_configuration_is_applied_or_refused(history: Any) -> None:
    pod = Models(recorded.schemas()).structure("io.k8s.api.core.v1.Pod")
    editor = Editor(pod)
    for manager, body in history:
        try:
            editor.apply(manager, {"apiVersion": "v1", "kind": "Pod", **body})
            editor.update("u", {"apiVersion": "v1", "kind": "Pod", **body})
        except ApiError:
            continue


@given(data=st.dictionaries(keys, values, max_size=4), other=st.dictionaries(keys, values))
def test_applying_by_force_sets_what_was_said_and_again_changes_nothing(
    data: Any, other: Any
) -> None:
    editor = Editor(Models(recorded.schemas()).structure("io.k8s.api.core.v1.ConfigMap"))
    editor.update("u", config_map(**other))

    once = editor.apply("m1", config_map(**data), force=True)

    assert once.get("data", {}) == {**other, **data}
    assert editor.apply("m1", config_map(**data)) == once


SPECS = st.fixed_dictionaries(
    {
        "containers": st.lists(
            st.builds(lambda n: {"name": n, "resources": {}}, st.sampled_from("abc"))
        )
    },
    optional={"nodeName": st.sampled_from(["", "n"]), "hostNetwork": st.booleans()},
)


@given(specs=st.lists(SPECS, min_size=2, max_size=4))
def test_what_appears_is_the_same_whether_its_like_was_seen_before_or_not(specs: list[Any]) -> None:
    structure = MODELS.structure("io.k8s.api.core.v1.Pod")
    for spec in [*specs, *specs]:
        pod = {"metadata": {"labels": {"a": "b"}}, "spec": copy.deepcopy(spec)}
        fill_defaults(structure, pod)
        start = blank(structure)
        assert appeared(start, pod, structure) == changes(start, pod, structure)
