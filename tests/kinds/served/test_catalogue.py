from __future__ import annotations

from dataclasses import replace

import pytest

from windtunnel.kinds.served.catalogue import Catalogue, version_rank
from windtunnel.kinds.served.kind import Kind
from windtunnel.kinds.served.registry import builtin_kinds


def widget(version: str, group: str = "example.com", plural: str = "widgets") -> Kind:
    pods = Catalogue(builtin_kinds()).by_resource("pods")
    return replace(pods, group=group, version=version, kind="Widget", plural=plural, custom=True)


def test_a_kind_is_found_by_path_and_resource() -> None:
    catalogue = Catalogue(builtin_kinds())
    deployments = catalogue.by_resource("deployments.apps")

    assert catalogue.by_path("apps", "v1", "deployments") is deployments
    assert catalogue.by_path("", "v1", "pods") is catalogue.by_resource("pods")
    assert catalogue.by_path("apps", "v2", "deployments") is None


def test_a_resource_means_its_preferred_version_unless_it_names_one() -> None:
    catalogue = Catalogue(builtin_kinds())

    assert catalogue.by_resource("horizontalpodautoscalers.autoscaling").version == "v2"
    assert catalogue.by_resource("horizontalpodautoscalers.autoscaling/v1").version == "v1"
    with pytest.raises(KeyError):
        catalogue.by_resource("widgets.example.com")


def test_versions_are_preferred_by_maturity_then_number() -> None:
    versions = ["v1alpha1", "foo", "v2", "v1beta2", "v1", "v1beta1", "v10"]

    assert sorted(versions, key=version_rank) == [
        "v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo",
    ]  # fmt: skip


def test_custom_kinds_come_last_by_group_and_prefer_the_best_version() -> None:
    catalogue = Catalogue(builtin_kinds())
    for kind in (widget("v1beta1", "z.com"), widget("v1"), widget("v1beta1"), widget("v2")):
        catalogue.add(kind)

    groups = catalogue.groups()
    assert list(groups)[-2:] == ["example.com", "z.com"]
    assert list(groups["example.com"]) == ["v2", "v1", "v1beta1"]
    assert catalogue.by_resource("widgets.example.com").version == "v2"


def test_a_removed_kind_leaves_no_trace_and_every_change_counts() -> None:
    catalogue = Catalogue(builtin_kinds())
    count, generation = len(catalogue), catalogue.generation
    kind = widget("v1")
    catalogue.add(kind)
    assert catalogue.generation > generation

    catalogue.remove(kind)
    catalogue.remove(kind)

    assert len(catalogue) == count
    assert catalogue.by_path("example.com", "v1", "widgets") is None
