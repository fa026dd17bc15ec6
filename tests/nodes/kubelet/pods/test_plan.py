"""What is to be done next with a pod."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_records import PodRecords
from windtunnel.nodes.kubelet.pods.plan import Facts, Kill, Plan, plan
from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord, ContainerState


def record(name: str, code: int | None = None, attempt: int = 0) -> ContainerRecord:
    """A container that runs, or has exited with ``code``."""
    return ContainerRecord(
        id=f"{name}-{attempt}",
        pod_uid="u",
        pod_namespace="d",
        pod_name="p",
        name=name,
        attempt=attempt,
        image="i",
        image_id="",
        state=ContainerState.RUNNING if code is None else ContainerState.EXITED,
        exit_code=code or 0,
        reason="",
        message="",
        created_at=1.0 + attempt,
        started_at=1.0 + attempt,
        finished_at=0.0,
        pid=1,
        log_path=Path(),
        init=False,
    )


def pod(*, policy: str = "Always", init: list[Tree] | None = None, **containers: Tree) -> Tree:
    return {
        "metadata": {"name": "p", "namespace": "d", "uid": "u"},
        "spec": {
            "restartPolicy": policy,
            "initContainers": init or [],
            "containers": [
                {"name": name, **rest} for name, rest in (containers or {"a": {}}).items()
            ],
        },
    }


def facts(*records: ContainerRecord, **rest: Any) -> Facts:
    return Facts(**{"records": PodRecords.of(records), "sandbox": True, **rest})


SIDE: Tree = {"name": "side", "restartPolicy": "Always"}
SETUP: Tree = {"name": "setup"}
ALL_ANEW: Tree = {
    "restartPolicyRules": [
        {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    ]
}
ON_SEVEN: Tree = {
    "restartPolicy": "Never",
    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [7]}}],
}


@dataclass
class Case:
    pod: Tree
    facts: Facts
    want: Plan


CASES = {
    "a sandbox comes first": Case(
        pod(a={}, b={}), facts(sandbox=False), Plan(sandbox=True, start=("a", "b"))
    ),
    "with init containers only the first is started with the sandbox": Case(
        pod(init=[SETUP]), facts(sandbox=False), Plan(sandbox=True, start=("setup",))
    ),
    "what runs is left alone": Case(pod(), facts(record("a")), Plan()),
    "what is missing is started": Case(pod(a={}, b={}), facts(record("a")), Plan(start=("b",))),
    "what always restarts is started again": Case(pod(), facts(record("a", 0)), Plan(start=("a",))),
    "what restarts on failure is done after success": Case(
        pod(policy="OnFailure"), facts(record("a", 0)), Plan(over=True)
    ),
    "what restarts on failure is started again after one": Case(
        pod(policy="OnFailure"), facts(record("a", 1)), Plan(start=("a",))
    ),
    "what never restarts is over when all have ended": Case(
        pod(policy="Never", a={}, b={}), facts(record("a", 1), record("b", 0)), Plan(over=True)
    ),
    "one that still runs keeps the pod": Case(
        pod(policy="Never", a={}, b={}), facts(record("a", 1), record("b")), Plan()
    ),
    "a rule brings back what its policy would not": Case(
        pod(a=ON_SEVEN), facts(record("a", 7)), Plan(start=("a",))
    ),
    "another exit code leaves it to the policy": Case(
        pod(a=ON_SEVEN), facts(record("a", 8)), Plan(over=True)
    ),
    "a rule may ask for everything anew": Case(
        pod(policy="Never", a=ALL_ANEW, b={}),
        facts(record("a", 42), record("b")),
        Plan(anew=True),
    ),
    "an init container that runs is waited for": Case(
        pod(init=[SETUP]), facts(record("setup")), Plan()
    ),
    "after the init container come the app containers": Case(
        pod(init=[SETUP]), facts(record("setup", 0)), Plan(start=("a",))
    ),
    "an init container that failed is tried again": Case(
        pod(init=[SETUP]), facts(record("setup", 1)), Plan(start=("setup",))
    ),
    "an init container that failed for good ends the pod": Case(
        pod(policy="Never", init=[SETUP]), facts(record("setup", 1)), Plan(over=True)
    ),
    "init containers do not run again once the app has begun": Case(
        pod(init=[SETUP]), facts(record("a", 1)), Plan(start=("a",))
    ),
    "a sidecar that has not started is waited for": Case(
        pod(init=[SIDE, SETUP]), facts(record("side")), Plan()
    ),
    "a sidecar that has started lets the next one begin": Case(
        pod(init=[SIDE, SETUP]), facts(record("side"), started={"side"}), Plan(start=("setup",))
    ),
    "a sidecar that ends is started again beside the app": Case(
        pod(policy="Never", init=[SIDE]),
        facts(record("side", 3), record("a")),
        Plan(start=("side",)),
    ),
    "sidecars alone do not keep a pod": Case(
        pod(policy="Never", init=[SIDE]), facts(record("side"), record("a", 0)), Plan(over=True)
    ),
    "a container that fails its probe is killed and started again": Case(
        pod(),
        facts(record("a"), unhealthy={"a": "liveness"}),
        Plan(
            kill=(Kill(record("a"), "Container a failed liveness probe", "liveness"),),
            start=("a",),
        ),
    ),
    "one that never restarts is only killed": Case(
        pod(policy="Never", a={}, b={}),
        facts(record("a"), record("b"), unhealthy={"a": "startup"}),
        Plan(kill=(Kill(record("a"), "Container a failed startup probe", "startup"),)),
    ),
    "the last one that never restarts takes the pod with it": Case(
        pod(policy="Never"), facts(record("a"), unhealthy={"a": "liveness"}), Plan(over=True)
    ),
    "a container with another definition is made anew, whatever its policy": Case(
        pod(policy="Never"),
        facts(record("a"), changed={"a"}),
        Plan(kill=(Kill(record("a"), "Container a definition changed"),), start=("a",)),
    ),
    "only the newest run counts": Case(pod(), facts(record("a", 1), record("a", None, 1)), Plan()),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_plan(case: Case) -> None:
    assert plan(case.pod, case.facts) == case.want
