"""What pods ask for, and how plugins' answers lie over each other."""

from __future__ import annotations

from windtunnel.nodes.kubelet.devices.admission import Wish, run_options, total_of, wishes_of
from windtunnel.nodes.kubelet.runtime.protocol import Mount
from windtunnel.wire import deviceplugin_pb2 as pb


def container(name: str, gpus: str = "", **more: object) -> dict[str, object]:
    limits = {"cpu": "1"} | ({"nvidia.com/gpu": gpus} if gpus else {})
    return {"name": name, "resources": {"limits": limits}, **more}


def test_only_limits_of_extended_resources_are_wishes() -> None:
    pod = {
        "spec": {
            "initContainers": [container("i", "2"), container("s", "1", restartPolicy="Always")],
            "containers": [container("c", "1k"), {"name": "d"}],
        }
    }

    assert wishes_of(pod) == [
        Wish("i", (("nvidia.com/gpu", 2),), lends=True),
        Wish("s", (("nvidia.com/gpu", 1),)),
        Wish("c", (("nvidia.com/gpu", 1000),)),
        Wish("d", ()),
    ]


def test_a_pod_needs_what_runs_together_or_the_peak_of_its_inits() -> None:
    def wish(count: int, *, lends: bool = False) -> Wish:
        return Wish("c", (("r", count),), lends)

    assert total_of([wish(5, lends=True), wish(1), wish(2)]) == {"r": 5}
    assert total_of([wish(1), wish(3, lends=True), wish(2)]) == {"r": 4}
    assert total_of([wish(1), wish(2), wish(2)]) == {"r": 5}


def test_of_two_answers_the_first_holds() -> None:
    first = pb.ContainerAllocateResponse(
        envs={"A": "1"},
        mounts=[pb.Mount(container_path="/m", host_path="/one", read_only=True)],
        cdi_devices=[pb.CDIDevice(name="x/y=0")],
    )
    second = pb.ContainerAllocateResponse(
        envs={"A": "2", "B": "3"},
        mounts=[pb.Mount(container_path="/m", host_path="/two")],
        devices=[pb.DeviceSpec(container_path="/dev/a", host_path="/dev/null", permissions="rw")],
        annotations={"k": "v"},
        cdi_devices=[pb.CDIDevice(name="x/y=0")],
    )

    found = run_options([first.SerializeToString(), second.SerializeToString()])

    assert found.envs == (("A", "1"), ("B", "3"))
    assert found.mounts == (Mount(host_path="/one", container_path="/m", read_only=True),)
    assert [node.container_path for node in found.devices] == ["/dev/a"]
    assert found.annotations == (("k", "v"),)
    assert found.cdi_devices == ("x/y=0",)
