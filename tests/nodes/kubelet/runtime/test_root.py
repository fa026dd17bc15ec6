"""How a root is laid out on a machine that is a table."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from windtunnel.nodes.kubelet.runtime.protocol import DeviceNode, Mount
from windtunnel.nodes.kubelet.runtime.root import Bind, Item, Link, RootPlan, Text, plan_root


@dataclass(frozen=True)
class Paper:
    """A machine on paper: its folders and files, and where its links lead."""

    paths: tuple[str, ...]
    links: dict[str, str]

    def exists(self, path: str) -> bool:
        return path in self.links or any(
            known == path or known.startswith(f"{path}/") for known in self.paths
        )

    def link(self, path: str) -> str | None:
        return self.links.get(path)

    def entries(self, path: str) -> list[str]:
        below = [*self.paths, *self.links]
        return sorted(
            {
                known[len(path) + 1 :].split("/")[0]
                for known in below
                if known.startswith(f"{path}/")
            }
        )


MERGED = Paper(
    paths=("/usr/bin/sh", "/usr/lib/libc.so", "/usr/share/doc/x", "/dev/null", "/etc/ssl/ca"),
    links={"/lib": "usr/lib", "/sbin": "usr/sbin", "/usr/bin/awk": "/etc/alternatives/awk"},
)


def laid(
    *targets: str, extras: dict[str, Item] | None = None, devices: tuple[DeviceNode, ...] = ()
) -> RootPlan:
    mounts = [Mount(host_path=f"/v{number}", container_path=t) for number, t in enumerate(targets)]
    return plan_root(MERGED, extras=extras or {}, mounts=mounts, devices=devices)


def test_the_machine_s_folders_are_bound_and_its_links_are_copied() -> None:
    plan = laid()

    assert ("bind-ro", "/usr", "/usr") in plan.mounts
    assert ("bind-ro", "/etc/ssl", "/etc/ssl") in plan.mounts
    assert ("bind", "/dev/null", "/dev/null") in plan.mounts
    assert ("/lib", "usr/lib") in plan.links
    assert {"/bin", "/tmp", "/etc"} <= set(plan.folders)
    assert [mount for mount in plan.mounts if mount[0] in ("proc", "devpts", "tmpfs")] == [
        ("proc", "proc", "/proc"),
        ("devpts", "devpts", "/dev/pts"),
        ("tmpfs", "shm", "/dev/shm"),
    ]


WHERE = {
    "a new place is made by who mounts": ("/data/deep", "/data/deep"),
    "a link of the root is followed": ("/var/run/secrets", "/run/secrets"),
    "a link of the machine is followed": ("/lib/libc.so", "/usr/lib/libc.so"),
    "a file of the machine is covered where it is": ("/usr/bin/sh", "/usr/bin/sh"),
}


@pytest.mark.parametrize(("target", "want"), WHERE.values(), ids=WHERE)
def test_where_a_mount_goes(target: str, want: str) -> None:
    plan = laid(target)

    assert plan.mounts[-1] == ("bind", "/v0", want)
    assert ("bind-ro", "/usr", "/usr") in plan.mounts


def test_a_place_that_the_machine_does_not_have_dissolves_its_bind() -> None:
    plan = laid("/usr/share/own")

    assert plan.mounts[-1] == ("bind", "/v0", "/usr/share/own")
    assert ("bind-ro", "/usr", "/usr") not in plan.mounts
    assert {"/usr", "/usr/share"} <= set(plan.folders)
    assert ("bind-ro", "/usr/bin", "/usr/bin") in plan.mounts
    assert ("bind-ro", "/usr/share/doc", "/usr/share/doc") in plan.mounts


def test_links_of_a_dissolved_folder_are_copied() -> None:
    plan = laid("/usr/bin/own")

    assert ("/usr/bin/awk", "/etc/alternatives/awk") in plan.links
    assert ("bind-ro", "/usr/bin/sh", "/usr/bin/sh") in plan.mounts


def test_a_mount_within_a_mount_comes_after_it_and_dissolves_nothing() -> None:
    plan = laid("/data/sub/file", "/data")

    assert plan.mounts[-2:] == (("bind", "/v1", "/data"), ("bind", "/v0", "/data/sub/file"))


def test_what_the_image_brings_takes_its_place_before_the_order_s_mounts() -> None:
    extras: dict[str, Item] = {
        "/bin/sh": Link("/usr/bin/sh"),
        "/usr/local/bin/agent": Text("#!/bin/sh\n", 0o755),
        "/opt/x/python": Bind("/opt/x/python"),
    }
    plan = laid("/bin/sh", extras=extras)

    assert ("/bin/sh", "/usr/bin/sh") in plan.links
    assert plan.files == (("/usr/local/bin/agent", Text("#!/bin/sh\n", 0o755)),)
    assert ("bind-ro", "/opt/x/python", "/opt/x/python") in plan.mounts
    assert plan.mounts[-1] == ("bind", "/v0", "/usr/bin/sh")


def test_shared_memory_that_is_ordered_is_not_made_too() -> None:
    plan = laid("/dev/shm", devices=(DeviceNode(host_path="/dev/null", container_path="/dev/x"),))

    assert "tmpfs" not in [kind for kind, _, _ in plan.mounts]
    assert plan.mounts[-1] == ("bind", "/dev/null", "/dev/x")


def test_links_in_a_circle_end() -> None:
    machine = Paper(paths=("/usr/x",), links={"/usr/a": "/usr/b", "/usr/b": "/usr/a"})
    mounts = [Mount(host_path="/v", container_path="/usr/a/c")]

    assert plan_root(machine, extras={}, mounts=mounts, devices=()).mounts
