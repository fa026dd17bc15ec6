"""The operator's release in a cluster that has no helm: installed once, and as helm does it."""

import base64
import gzip
import json
from typing import Any

from tests.world import World

from windtunnel.gpu.chart import NAMESPACE, RELEASE, VALUES
from windtunnel.gpu.chart.installation import DONE, Installation, marked, read_rendered
from windtunnel.machinery.tree import Key, dig


def install(world: World) -> None:
    part = Installation(world.client, world.loop)
    part.start()
    world.run(5)
    part.stop()


def ready(status: str) -> dict[str, Any]:
    return {"conditions": [{"type": "Ready", "status": status}]}


def test_every_object_of_the_chart_is_there_and_is_owned_by_helm() -> None:
    world = World()
    install(world)

    client = world.client
    for resource, tree in read_rendered().objects:
        metadata = tree["metadata"]
        found = client.get(resource, Key(metadata.get("namespace", ""), metadata["name"]))
        assert found is not None, (resource, metadata["name"])
        assert "helm" in {each["manager"] for each in found["metadata"]["managedFields"]}


def test_the_release_is_kept_as_helm_keeps_it() -> None:
    world = World()
    install(world)

    secret = world.client.get("secrets", Key(NAMESPACE, f"sh.helm.release.v1.{RELEASE}.v1"))
    assert secret is not None
    packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    release: dict[str, Any] = json.loads(gzip.decompress(packed))

    assert secret["type"] == "helm.sh/release.v1"
    assert release["info"]["status"] == secret["metadata"]["labels"]["status"] == "deployed"
    assert release["config"] == VALUES
    assert release["chart"]["metadata"]["name"] == "windtunnel"


def test_nothing_that_is_placed_freely_may_come_to_a_played_node() -> None:
    apart = {"key": "type", "operator": "NotIn", "values": ["kwok"]}
    deployments = [tree for _, tree in read_rendered().objects if tree["kind"] == "Deployment"]

    free = [tree for tree in deployments if tree["spec"]["replicas"] > 0]
    assert free
    for tree in free:
        (term,) = dig(
            tree, "spec", "template", "spec", "affinity", "nodeAffinity",
            "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms",
        )  # fmt: skip
        assert term == {"matchExpressions": [apart]}


def test_what_runs_in_pods_waits_for_its_node_but_not_for_ever() -> None:
    world = World()
    key = Key(NAMESPACE, "status-updater")
    part = Installation(world.client, world.loop, "node-0")
    part.start()

    world.run(1)
    assert world.client.get("serviceaccounts", key) is not None
    assert world.client.get("deployments.apps", key) is None

    world.client.create("nodes", {"metadata": {"name": "node-0"}, "status": ready("False")})
    world.run(1)
    assert world.client.get("deployments.apps", key) is None

    status = {"status": ready("True")}
    world.client.patch("nodes", Key("", "node-0"), status, subresource="status")
    world.run(1)
    assert world.client.get("deployments.apps", key) is not None
    part.stop()

    later = World()
    Installation(later.client, later.loop, "node-0").start()
    later.run(20)
    assert later.client.get("deployments.apps", key) is not None


def test_what_was_uninstalled_does_not_come_back() -> None:
    world = World()
    install(world)
    client = world.client
    client.delete("deployments.apps", Key(NAMESPACE, "status-updater"))
    client.delete("secrets", Key(NAMESPACE, f"sh.helm.release.v1.{RELEASE}.v1"))

    install(world)

    assert client.get("deployments.apps", Key(NAMESPACE, "status-updater")) is None


def test_an_interrupted_installation_is_taken_up_again() -> None:
    world = World()
    part = Installation(world.client, world.loop)
    part.start()
    for _ in range(10):
        world.loop.run_due(0)
    part.stop()
    client = world.client
    assert client.get("deployments.apps", Key(NAMESPACE, "topology-server")) is None

    install(world)

    namespace = client.get("namespaces", Key("", NAMESPACE))
    assert namespace is not None
    assert namespace["metadata"]["annotations"][DONE] == "true"
    assert client.get("deployments.apps", Key(NAMESPACE, "topology-server")) is not None


def test_a_release_of_helms_own_is_left_alone() -> None:
    world = World()
    client = world.client
    client.create("namespaces", {"metadata": {"name": NAMESPACE}})
    labels = {"owner": "helm", "name": RELEASE}
    client.create(
        "secrets", {"metadata": {"name": "theirs", "namespace": NAMESPACE, "labels": labels}}
    )

    install(world)

    assert client.list("daemonsets.apps", NAMESPACE) == []


def test_marks_leave_the_rendered_object_as_it_is() -> None:
    resource, tree = read_rendered().objects[-1]
    before = json.dumps(tree)

    assert marked(tree)["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "Helm", resource
    assert json.dumps(tree) == before
