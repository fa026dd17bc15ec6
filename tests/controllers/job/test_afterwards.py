from tests.world import World

from windtunnel.machinery.tree import Key, Tree

JOBS = "jobs.batch"


def template() -> Tree:
    return {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}


def test_the_finalizer_goes_with_the_job(world: World) -> None:
    world.create(JOBS, "j", spec={"template": template(), "parallelism": 3, "completions": 3})
    world.run(0.1)
    assert all(pod["metadata"]["finalizers"] for pod in world.client.list("pods"))

    world.client.delete(JOBS, Key("default", "j"), propagation="Background")
    world.run(25)

    assert world.names("pods") == []


def test_a_pod_with_the_finalizer_but_without_job_is_freed(world: World) -> None:
    finalizers = ["batch.kubernetes.io/job-tracking"]
    spec = {"containers": [{"name": "c", "image": "i"}]}
    world.create("pods", "stray", metadata={"finalizers": finalizers}, spec=spec)
    world.run(0.1)

    assert "finalizers" not in world.get("pods", "stray")["metadata"]


def test_a_job_that_ends_late_goes_late(world: World) -> None:
    world.node("n1")
    world.create(JOBS, "j", spec={"template": template(), "ttlSecondsAfterFinished": 5})
    world.run(60)
    assert world.names(JOBS) == ["j"]

    world.bind("n1")
    world.run(10)

    assert world.names(JOBS) == []
