"""Tests of the objects of pools with the mock backend."""

from __future__ import annotations

from tests.gpu.operated import NAMESPACE, Operated

from windtunnel.machinery.tree import Key

MOCK = "gpu: {backend: mock, profile: g}"
PROFILE = "system: {driver_version: '555.1'}\ndevice_defaults: {name: G}\ndevices: [{index: 0}]\n"


def operated(**pools: str) -> Operated:
    world = Operated(**pools)
    world.updater.stop()
    world.create("configmaps", "gpu-profile-g", NAMESPACE, data={"profile.yaml": PROFILE})
    world.begin(mock_image="mockimg:1")
    return world


def objects(world: Operated) -> list[str]:
    names = [*world.names("configmaps", NAMESPACE), *world.names("daemonsets.apps", NAMESPACE)]
    return [name for name in names if name.startswith("nvml-mock")]


def test_a_pool_gets_a_configuration_and_daemons() -> None:
    world = operated(m=MOCK)

    config = world.get("configmaps", "nvml-mock-m", NAMESPACE)["data"]["config.yaml"]
    assert config == (
        'device_defaults:\n  name: G\ndevices:\n- index: 0\nsystem:\n  driver_version: "555.1"\n'
    )
    template = world.get("daemonsets.apps", "nvml-mock-m", NAMESPACE)["spec"]["template"]["spec"]
    (container,) = template["containers"]
    assert container["image"] == "mockimg:1"
    assert [one.get("value") for one in container["env"]] == ["1", "555.1", None]
    assert list(template["nodeSelector"].values()) == ["m"]


def test_a_pool_that_goes_takes_its_objects_along() -> None:
    world = operated(m=MOCK, k=MOCK)
    assert len(objects(world)) == 4

    world.write(k=MOCK, m="gpuCount: 1")
    world.run(1)

    assert objects(world) == ["nvml-mock-k", "nvml-mock-k"]


def test_a_change_of_the_pool_is_followed_and_what_others_added_stays() -> None:
    world = operated(m=MOCK)
    key = Key(NAMESPACE, "nvml-mock-m")
    world.client.patch("daemonsets.apps", key, {"metadata": {"labels": {"mine": "x"}}})

    world.write(m="gpu: {backend: mock, profile: g, overrides: {device_count: 4}}")
    world.run(1)

    daemons = world.get("daemonsets.apps", "nvml-mock-m", NAMESPACE)
    (container,) = daemons["spec"]["template"]["spec"]["containers"]
    assert container["env"][0]["value"] == "4"
    assert daemons["metadata"]["labels"]["mine"] == "x"


def test_what_is_deleted_comes_back_within_half_a_minute() -> None:
    world = operated(m=MOCK)

    world.client.delete("configmaps", Key(NAMESPACE, "nvml-mock-m"))
    world.run(31)

    assert len(objects(world)) == 2


def test_only_the_pool_without_a_profile_is_refused() -> None:
    world = operated(bad="gpu: {backend: mock}", good=MOCK)

    assert objects(world) == ["nvml-mock-good", "nvml-mock-good"]
    told = ("BrokenPool", "no mock for pool bad: mock pool requires a non-empty profile")
    assert told in world.told()
