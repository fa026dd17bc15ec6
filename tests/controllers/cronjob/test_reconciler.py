from typing import Any

import pytest
from tests.world import World

from windtunnel.machinery.tree import Key, Tree

CRON_JOBS = "cronjobs.batch"
JOBS = "jobs.batch"


@pytest.fixture(autouse=True)
def node(world: World) -> None:
    world.node("n1")


def cron_job(world: World, **spec: Any) -> None:
    pod = {"containers": [{"name": "c", "image": "x"}], "restartPolicy": "Never"}
    template = {"metadata": {"labels": {"from": "cj"}}, "spec": {"template": {"spec": pod}}}
    world.create(CRON_JOBS, "cj", spec={"schedule": "* * * * *", "jobTemplate": template, **spec})
    world.run(61)


def end(world: World, phase: str = "Succeeded") -> None:
    world.bind("n1")
    for pod in world.client.list("pods", "default"):
        if pod["status"]["phase"] not in ("Succeeded", "Failed"):
            world.status(pod["metadata"]["name"], {"phase": phase})
    world.run(3)


def status(world: World) -> Tree:
    found: Tree = world.get(CRON_JOBS, "cj")["status"]
    return found


def reasons(world: World) -> list[str]:
    return [reason for reason, _ in world.events()]


def test_a_job_is_started_followed_and_remembered(world: World) -> None:
    cron_job(world, timeZone="Asia/Tokyo")
    (name,) = world.names(JOBS)
    job = world.get(JOBS, name)
    assert job["metadata"]["labels"] == {"from": "cj"}
    when = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert when.endswith("+09:00")
    (active,) = status(world)["active"]
    assert (active["name"], active["uid"]) == (name, job["metadata"]["uid"])

    end(world)

    assert "active" not in status(world)
    assert status(world)["lastSuccessfulTime"] == world.get(JOBS, name)["status"]["completionTime"]
    assert ("SawCompletedJob", f"Saw completed job: {name}, condition: Complete") in world.events()


def test_one_that_runs_holds_the_next_back(world: World) -> None:
    cron_job(world, concurrencyPolicy="Forbid")
    world.run(60)
    assert len(world.names(JOBS)) == 1
    assert "JobAlreadyActive" in reasons(world)

    end(world)

    assert len(world.names(JOBS)) == 2


def test_one_that_runs_is_replaced(world: World) -> None:
    cron_job(world, concurrencyPolicy="Replace")
    before = world.names(JOBS)
    world.run(60)

    assert len(world.names(JOBS)) == 1
    assert world.names(JOBS) != before
    assert ("SuccessfulDelete", f"Deleted job {before[0]}") in world.events()


def test_history_is_kept_short(world: World) -> None:
    cron_job(world, successfulJobsHistoryLimit=2)
    for _ in range(4):
        end(world)
        world.run(57)

    finished = [
        name for name in world.names(JOBS) if "completionTime" in world.get(JOBS, name)["status"]
    ]
    assert len(finished) == 2


def test_a_job_that_somebody_deletes_is_missed(world: World) -> None:
    cron_job(world)
    (name,) = world.names(JOBS)
    world.client.delete(JOBS, Key("default", name), propagation="Background")
    world.run(1)

    assert "active" not in status(world)
    assert ("MissingJob", f"Active job went missing: {name}") in world.events()


def test_a_running_job_that_it_forgot_is_told(world: World) -> None:
    cron_job(world)
    world.client.patch(
        CRON_JOBS, Key("default", "cj"), {"status": {"active": None}}, subresource="status"
    )
    world.run(1)

    assert "UnexpectedJob" in reasons(world)


def test_nothing_starts_while_suspended_and_the_last_time_afterwards(world: World) -> None:
    cron_job(world, suspend=True)
    world.run(120)
    assert world.names(JOBS) == []

    world.client.patch(CRON_JOBS, Key("default", "cj"), {"spec": {"suspend": False}})
    world.run(1)

    assert len(world.names(JOBS)) == 1
