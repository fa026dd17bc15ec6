import pytest
from tests.world import World

WAITS = {
    "of a class that is not there": (
        "none", [("ProvisioningFailed", 'storageclass.storage.k8s.io "none" not found')]
    ),
    "without a class": (
        "",
        [("FailedBinding",
          "no persistent volumes available for this claim and no storage class is set")],
    ),
    "of a class that is there": ("there", []),
}  # fmt: skip


@pytest.mark.parametrize(("name", "want"), WAITS.values(), ids=WAITS)
def test_a_claim(world: World, name: str, want: list[tuple[str, str]]) -> None:
    world.create("storageclasses.storage.k8s.io", "there", "", provisioner="example.com/x")
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": name,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    world.create("persistentvolumeclaims", "c", spec=spec)
    world.run(60)

    assert world.events() == want
