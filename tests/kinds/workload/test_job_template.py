from __future__ import annotations

import copy

import pytest

from windtunnel.kinds.workload.job_template import validate_template_update
from windtunnel.machinery.tree import Tree

POD = {"containers": [{"name": "c", "image": "i", "resources": {}}]}
JOB: Tree = {"spec": {"suspend": True, "template": {"spec": POD}}, "status": {}}


def changed(**spec: object) -> Tree:
    job = copy.deepcopy(JOB)
    job["spec"]["template"]["spec"].update(spec)
    return job


CHANGES = {
    "where its pods run, while none does": (changed(nodeSelector={"a": "b"}), JOB, True),
    "where they run, while some do": (
        changed(nodeSelector={"a": "b"}), {**JOB, "spec": {**JOB["spec"], "suspend": False}}, False,
    ),
    "what they run": (changed(hostname="h"), JOB, False),
}  # fmt: skip


@pytest.mark.parametrize(("new", "old", "allowed"), CHANGES.values(), ids=CHANGES.keys())
def test_what_may_change_of_a_template(new: Tree, old: Tree, allowed: bool) -> None:
    assert (not validate_template_update(new, old)) is allowed
