from tests.world import World

from windtunnel.machinery.tree import Key

CLAIMS = "persistentvolumeclaims"


def test_a_claim_in_use_waits_for_its_pod(world: World) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    world.create(
        CLAIMS, "data", spec=spec, metadata={"finalizers": ["kubernetes.io/pvc-protection"]}
    )
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    world.create(
        "pods", "p", spec={"volumes": [volume], "containers": [{"name": "c", "image": "i"}]}
    )
    world.client.delete(CLAIMS, Key("default", "data"))
    world.run(0.1)
    assert world.names(CLAIMS) == ["data"]

    world.status("p", {"phase": "Succeeded"})
    world.run(0.1)

    assert world.names(CLAIMS) == []
