from typing import Any

from tests.world import World

from windtunnel.machinery.tree import Key, Tree

JOBS = "jobs.batch"


def job(world: World, **spec: Any) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    world.create(JOBS, "j", spec={"template": template, **spec})
    world.run(0.1)


def finish(world: World, phase: str = "Succeeded", code: int = 0, count: int = 1) -> None:
    """End the first pods that still live."""
    living = [
        pod for pod in world.client.list("pods") if pod["status"]["phase"] in ("Pending", "Running")
    ]
    for pod in living[:count]:
        end = {"exitCode": code, "finishedAt": "2027-01-15T08:00:01Z"}
        statuses = [
            {
                "name": "c",
                "image": "i",
                "imageID": "",
                "ready": False,
                "restartCount": 0,
                "state": {"terminated": end},
            }
        ]
        world.status(pod["metadata"]["name"], {"phase": phase, "containerStatuses": statuses})


def status(world: World) -> Tree:
    found: Tree = world.get(JOBS, "j")["status"]
    return found


def reasons(world: World) -> list[tuple[str, str]]:
    return [(each["type"], each["reason"]) for each in status(world).get("conditions", ())]


def test_pods_are_counted_and_let_go(world: World) -> None:
    world.node("n1")
    job(world, completions=3, parallelism=2)
    for _ in range(6):
        world.bind("n1")
        world.run(1)

    assert status(world)["succeeded"] == 3
    assert reasons(world) == [
        ("SuccessCriteriaMet", "CompletionsReached"),
        ("Complete", "CompletionsReached"),
    ]
    assert all("finalizers" not in pod["metadata"] for pod in world.client.list("pods"))
    assert ("Completed", "Job completed") in world.events()


def test_a_failure_delays_the_replacement_but_not_the_others(world: World) -> None:
    job(world, completions=2, parallelism=2)
    finish(world, "Failed", 1)
    world.run(5)
    assert (status(world)["failed"], status(world)["active"]) == (1, 1)
    assert len(world.names("pods")) == 2

    world.run(7)

    assert len(world.names("pods")) == 3


def test_too_many_failures_end_the_job_and_its_pods(world: World) -> None:
    world.node("n1")
    job(world, backoffLimit=0, completions=2, parallelism=2)
    finish(world, "Failed", 1)
    world.run(5)

    assert reasons(world) == [
        ("FailureTarget", "BackoffLimitExceeded"),
        ("Failed", "BackoffLimitExceeded"),
    ]
    assert status(world)["failed"] == 2
    assert "active" not in status(world)


def test_a_deadline_ends_the_job(world: World) -> None:
    job(world, activeDeadlineSeconds=5)
    world.run(8)

    assert ("Failed", "DeadlineExceeded") in reasons(world)


def test_a_suspended_job_holds_no_pods_and_counts_none_as_failed(world: World) -> None:
    job(world, completions=2, parallelism=2)
    world.client.patch(JOBS, Key("default", "j"), {"spec": {"suspend": True}})
    world.run(3)
    assert world.names("pods") == []
    assert "failed" not in status(world)
    assert "startTime" not in status(world)

    world.client.patch(JOBS, Key("default", "j"), {"spec": {"suspend": False}})
    world.run(3)

    assert len(world.names("pods")) == 2
    assert reasons(world) == [("Suspended", "JobResumed")]


def test_an_indexed_job_runs_every_index_once(world: World) -> None:
    world.node("n1")
    job(world, completions=4, parallelism=4, completionMode="Indexed")
    world.bind("n1")
    world.run(3)

    assert status(world)["completedIndexes"] == "0-3"
    names = sorted(pod["spec"]["hostname"] for pod in world.client.list("pods"))
    assert names == ["j-0", "j-1", "j-2", "j-3"]


def test_a_finished_job_goes_when_its_time_has_come(world: World) -> None:
    world.node("n1")
    job(world, ttlSecondsAfterFinished=20)
    world.bind("n1")
    world.run(10)
    assert world.names(JOBS) == ["j"]

    world.run(20)

    assert world.names(JOBS) == []
    assert world.names("pods") == []


def test_pods_of_a_vanished_job_lose_their_finalizer(world: World) -> None:
    job(world)
    world.client.delete(JOBS, Key("default", "j"), propagation="Orphan")
    world.run(2)

    (pod,) = world.client.list("pods")
    assert "finalizers" not in pod["metadata"]


def test_somebody_elses_job_is_left_alone(world: World) -> None:
    job(world, managedBy="example.com/mine")
    world.run(2)

    assert world.names("pods") == []
