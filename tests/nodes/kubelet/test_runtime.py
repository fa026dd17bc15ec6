"""Containers that really run: what they see, how they end, and what they leave behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.nodes.kubelet.runtime.containers import ended, make_order, said, started, up

from windtunnel.nodes.kubelet.runtime.engine import ContainerEngine
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerState,
    CreateFailed,
    DeviceNode,
    Ended,
    ExecFailed,
    Isolation,
    Mount,
    PullFailed,
    StartFailed,
)

NOT_STARTED = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    "runc create failed: unable to start container process: "
)


ENDS = {
    "exit 0 is completed": (("true",), 0, "Completed"),
    "any other exit is an error": (("sh", "-c", "exit 3"), 3, "Error"),
    "a killed child is told as the shell tells it": (
        ("sh", "-c", "sh -c 'kill -9 $$'; exit $?"),
        137,
        "Error",
    ),
}


@pytest.mark.parametrize(("argv", "code", "reason"), ENDS.values(), ids=ENDS)
def test_how_a_container_ends(
    engine: ContainerEngine, log_path: Path, argv: tuple[str, ...], code: int, reason: str
) -> None:
    record = ended(engine, log_path, *argv)

    assert (record.exit_code, record.reason) == (code, reason)
    assert 0 < record.created_at <= record.started_at <= record.finished_at


NEVER = {
    "no such name": (("nosuch", "x"), 'exec: "nosuch": executable file not found in $PATH'),
    "no such path": (("/no/such",), 'exec: "/no/such": stat /no/such: no such file or directory'),
    "a folder": (("/etc",), 'exec: "/etc": permission denied'),
}


@pytest.mark.parametrize(("argv", "words"), NEVER.values(), ids=NEVER)
def test_a_program_that_cannot_be_run_is_a_start_error(
    engine: ContainerEngine, log_path: Path, argv: tuple[str, ...], words: str
) -> None:
    container_id = engine.create(make_order(log_path, *argv))
    with pytest.raises(StartFailed) as failed:
        engine.start(container_id)

    record = engine.record(container_id)
    assert record is not None
    assert str(failed.value) == f"{NOT_STARTED}{words}: unknown" == record.message
    assert (record.state, record.exit_code, record.reason) == (
        ContainerState.EXITED,
        128,
        "StartError",
    )
    engine.remove(container_id)


def test_a_container_sees_a_machine_of_its_own(private: ContainerEngine, log_path: Path) -> None:
    script = "echo $$; hostname; cat /etc/hostname; ls /home; touch /usr/lib/x || echo read-only"
    ended(private, log_path, "sh", "-c", script, hostname="hh")

    lines = [line for line in said(log_path).split("\n") if "touch" not in line]
    assert lines == ["1", "hh", "hh", "read-only"]


def test_what_it_writes_stays_its_own(private: ContainerEngine, log_path: Path) -> None:
    ended(private, log_path, "sh", "-c", "echo x > /mark; mkdir /var/lib/y; touch /bin/z")

    assert not Path("/mark").exists()
    assert not Path("/bin/z").exists()


def test_the_environment_is_the_image_s_the_order_s_and_the_shell_s(
    private: ContainerEngine, log_path: Path
) -> None:
    ended(private, log_path, "sh", "-c", "env | sort", environment=(("A", "1"), ("HOME", "/h")))

    assert said(log_path).split("\n") == [
        "A=1",
        "HOME=/h",
        "HOSTNAME=a",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PWD=/",
        "SHLVL=1",
    ]


@pytest.mark.root
def test_it_runs_as_the_user_it_is_told(private: ContainerEngine, log_path: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root: another user can only be itself")
    script = "id -u; id -g; id -G | tr ' ' '\\n' | sort -n; pwd; echo err > /dev/stderr"
    fields = {"user": 1000, "group": 3000, "groups": (7,), "working_dir": "/tmp/made"}
    ended(private, log_path, "sh", "-c", script, **fields)

    assert said(log_path).split("\n") == [
        *("1000", "3000", "7", "3000", "/tmp/made", "err"),
    ]


def test_mounts_and_devices_of_the_order(
    private: ContainerEngine, log_path: Path, tmp_path: Path
) -> None:
    file, folder, missing = tmp_path / "smi", tmp_path / "folder", tmp_path / "missing" / "here"
    file.write_text("#!/bin/sh\necho smi\n")
    file.chmod(0o755)
    folder.mkdir()
    mounts = (
        Mount(host_path=str(file), container_path="/bin/nvidia-smi"),
        Mount(host_path=str(folder), container_path="/var/run/deep/er"),
        Mount(host_path=str(folder), container_path="/usr/share/own", read_only=True),
        Mount(host_path=str(missing), container_path="/made"),
    )
    devices = (DeviceNode(host_path="/dev/null", container_path="/dev/nvidia0"),)
    script = (
        "nvidia-smi; /bin/nvidia-smi; echo x > /var/run/deep/er/y; echo x 2>&1 > /usr/share/own/z;"
        "cat /run/deep/er/y; test -c /dev/nvidia0 && echo device; test -d /made && echo made"
    )
    ended(private, log_path, "sh", "-c", script, mounts=mounts, devices=devices)

    assert [line for line in said(log_path).split("\n") if "/own/z" not in line] == [
        *("smi", "smi", "x", "device", "made")
    ]
    assert (folder / "y").read_text() == "x\n"
    assert missing.is_dir()


def test_a_missing_device_is_told_before_anything_is_made(
    engine: ContainerEngine, log_path: Path
) -> None:
    before = engine.containers()
    devices = (DeviceNode(host_path="/dev/no-such", container_path="/dev/x"),)
    with pytest.raises(CreateFailed, match=r"spec: lstat /dev/no-such: no such file or directory"):
        engine.create(make_order(log_path, "true", devices=devices))

    assert engine.containers() == before


def test_a_read_only_root(private: ContainerEngine, log_path: Path) -> None:
    script = "touch /x 2>/dev/null || echo no; touch /dev/shm/x && echo yes"
    ended(private, log_path, "sh", "-c", script, read_only_root=True)

    assert said(log_path) == "no\nyes"


@pytest.mark.parametrize("grace_seconds", [20, 2**62])
def test_stopping_gives_the_program_its_grace(
    engine: ContainerEngine, log_path: Path, grace_seconds: int
) -> None:
    container_id = up(engine, log_path)
    engine.stop(container_id, grace_seconds)

    record = engine.record(container_id)
    assert record is not None
    assert (record.exit_code, record.reason) == (0, "Completed")
    engine.remove(container_id)


def test_a_first_process_without_a_trap_is_killed(private: ContainerEngine, log_path: Path) -> None:
    container_id = started(private, log_path, "sleep", "60")
    private.stop(container_id, 0.2)

    record = private.record(container_id)
    assert record is not None
    assert (record.exit_code, record.reason) == (137, "Error")
    private.remove(container_id)


def test_too_much_memory_is_an_oom_kill(private: ContainerEngine, log_path: Path) -> None:
    script = "exec tail /dev/zero"
    record = ended(private, log_path, "sh", "-c", script, memory_limit_bytes=24 * 1024 * 1024)

    assert (record.exit_code, record.reason) == (137, "OOMKilled")


def test_where_no_group_can_be_made_memory_is_watched(
    private: ContainerEngine, log_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private._groups, "make", lambda *_: None)
    script = "a=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 30"
    record = ended(private, log_path, "sh", "-c", script, memory_limit_bytes=24 * 1024 * 1024)

    assert (record.exit_code, record.reason) == (137, "OOMKilled")


def test_the_log_is_what_the_container_put_out(engine: ContainerEngine, log_path: Path) -> None:
    ended(engine, log_path, "sh", "-c", "echo one; echo two >&2; printf tail")

    lines = [line.split(" ", 1)[1] for line in log_path.read_text().splitlines()]
    assert sorted(lines) == ["stderr F two", "stdout F one", "stdout P tail"]


def test_an_unknown_image_sleeps_and_says_so(engine: ContainerEngine, log_path: Path) -> None:
    with pytest.raises(CreateFailed):
        engine.create(make_order(log_path, image="nvidia/cuda:12"))
    engine.pull("nvidia/cuda:12")
    container_id = started(engine, log_path, image="nvidia/cuda:12", command=("train-model",))
    engine.stop(container_id, 20)

    record = engine.record(container_id)
    assert record is not None
    assert record.exit_code == 0
    assert record.stand_in
    assert record.missing == 'exec: "train-model": executable file not found in $PATH'
    engine.remove(container_id)


def test_an_unknown_image_without_a_command_sleeps(engine: ContainerEngine, log_path: Path) -> None:
    engine.pull("nginx:1")
    container_id = started(engine, log_path, image="nginx:1")

    record = engine.record(container_id)
    assert record is not None
    assert record.asleep
    assert not record.missing
    engine.remove(container_id)


MOUNTED = {
    "by its name": {"command": ("tool", "x")},
    "as arguments of the unknown program": {"args": ("tool", "x")},
    "by its path": {"command": ("/bin/tool", "x")},
    "by a shell": {"command": ("sh", "-c", "tool x")},
    "by another shell": {"command": ("/bin/bash", "-c", "tool x")},
}


@pytest.mark.parametrize("asked", MOUNTED.values(), ids=MOUNTED)
def test_a_mounted_program_is_found_in_an_unknown_image(
    engine: ContainerEngine, log_path: Path, tmp_path: Path, asked: dict[str, tuple[str, ...]]
) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho tool $1\n")
    tool.chmod(0o755)
    engine.pull("nvidia/cuda:13")
    mount = Mount(host_path=str(tool), container_path="/bin/tool", read_only=True)
    record = ended(engine, log_path, image="nvidia/cuda:13", mounts=(mount,), **asked)

    assert (record.exit_code, record.missing, record.asleep) == (0, "", False)
    assert said(log_path) == "tool x"


def test_what_is_missing_in_a_mounted_folder_is_an_error(
    private: ContainerEngine, log_path: Path, tmp_path: Path
) -> None:
    private.pull("nvidia/cuda:13")
    mount = Mount(host_path=str(tmp_path), container_path="/scripts")
    order = make_order(log_path, "/scripts/no.sh", image="nvidia/cuda:13", mounts=(mount,))
    container_id = private.create(order)
    with pytest.raises(StartFailed, match=r"stat /scripts/no\.sh: no such file or directory"):
        private.start(container_id)
    private.remove(container_id)


def test_a_mirrored_image_starts_our_agent(private: ContainerEngine, log_path: Path) -> None:
    private.pull("registry.corp/gpu/device-plugin:0.0.63")
    record = ended(
        private,
        log_path,
        image="registry.corp/gpu/device-plugin:0.0.63",
        environment=(("TOPOLOGY_CM_NAME", "topology"),),
    )

    assert not record.stand_in
    assert record.exit_code
    assert "windtunnel agent device-plugin" in said(log_path)


def test_a_command_that_the_machine_has_runs_in_an_unknown_image(
    engine: ContainerEngine, log_path: Path
) -> None:
    engine.pull("ubuntu:24.04")
    record = ended(engine, log_path, "/bin/sh", "-c", "exit 4", image="ubuntu:24.04")

    assert record.exit_code == 4
    assert record.stand_in
    assert not record.missing


def test_our_images_start_our_agents(private: ContainerEngine, log_path: Path) -> None:
    image = "windtunnel.dev/run-ai/fake-gpu-operator/status-exporter:0.1"
    script = (
        "cat /bin/topology-server; ls /usr/local/bin/status-exporter; echo $WINDTUNNEL_LISTEN_HOST"
    )
    record = ended(private, log_path, "sh", "-c", script, image=image)

    assert not record.stand_in
    assert "-m windtunnel agent topology-server" in said(log_path)
    assert said(log_path).endswith("/usr/local/bin/status-exporter\n127.42.0.7")


def test_our_package_is_there_in_our_images(private: ContainerEngine, log_path: Path) -> None:
    script = "import windtunnel, msgspec; print('imported')"
    code = f"exec '{sys.executable}' -c \"{script}\""
    image = "example.com/windtunnel:1"
    package = str(Path(__file__).resolve().parents[3] / "src")
    ended(private, log_path, "sh", "-c", code, image=image, environment=(("PYTHONPATH", package),))

    assert said(log_path) == "imported"


def test_a_name_that_is_none(engine: ContainerEngine) -> None:
    with pytest.raises(PullFailed, match="must be lowercase") as failed:
        engine.image("Nginx")

    assert failed.value.reason == "InvalidImageName"


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_many_containers_leave_nothing(
    private: ContainerEngine, log_path: Path, tmp_path: Path
) -> None:
    mounts, files = Path("/proc/self/mounts").read_text(), open_files()
    folder = tmp_path / "many"
    engine = ContainerEngine(folder)
    ids = [started(engine, log_path, "sh", "-c", "sleep 60 & sleep 60") for _ in range(20)]
    pids = [record.pid for record in engine.containers()]
    assert len(ids) == len(set(pids)) == 20
    engine.close()

    assert Path("/proc/self/mounts").read_text() == mounts
    assert open_files() == files
    assert not folder.exists()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_what_has_run_is_known_after_a_restart(tmp_path: Path) -> None:
    logs = [tmp_path / f"{number}.log" for number in range(3)]

    def begin() -> ContainerEngine:
        return ContainerEngine(tmp_path / "containers", records=tmp_path / "records")

    engine = begin()
    over = engine.create(make_order(logs[0], "sh", "-c", "echo over; exit 3"))
    engine.start(over)
    while engine.containers()[0].state is not ContainerState.EXITED:
        engine.exec_sync(up(engine, logs[1]), ["true"], 20)
    runs = up(engine, logs[2])
    engine.close()

    engine = begin()
    told = {each.id: (each.exit_code, each.reason) for each in engine.containers()}
    assert (told[over], told[runs]) == ((3, "Error"), (255, "Unknown"))
    assert said(logs[0]) == "over"
    assert engine.order(runs) is None
    with pytest.raises(ExecFailed, match="container is in CONTAINER_EXITED state"):
        engine.attach(runs)
    engine.stop(runs, 1)
    engine.remove(runs)
    engine.close()

    engine = begin()
    assert over in {each.id for each in engine.containers()}
    assert runs not in {each.id for each in engine.containers()}
    engine.close()


NODE = """
import sys
from pathlib import Path
from tests.nodes.kubelet.runtime.containers import make_order
from windtunnel.nodes.kubelet.runtime.engine import ContainerEngine
engine = ContainerEngine(Path(sys.argv[1]) / "containers", isolate=sys.argv[2] == "private")
order = make_order(Path(sys.argv[1]) / "0.log", "sh", "-c", "sleep 60 & sleep 60", user={user})
container = engine.create(order)
engine.start(container)
print(engine.record(container).pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["private", "plain"])
@pytest.mark.parametrize("user", [0, 1000])
def test_all_die_with_the_node(
    private: ContainerEngine, tmp_path: Path, kind: str, user: int
) -> None:
    if os.geteuid():
        user = 0
    node = subprocess.Popen(
        [sys.executable, "-c", NODE.format(user=user), str(tmp_path), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert node.stdout is not None
    assert node.stdin is not None
    pid = int(node.stdout.readline())
    first = os.pidfd_open(pid)
    node.send_signal(signal.SIGKILL)
    node.wait()
    node.stdout.close()
    node.stdin.close()

    poll = select.poll()
    poll.register(first)
    assert poll.poll(5000)
    os.close(first)


def test_a_plain_process_where_there_are_no_namespaces(
    plain: ContainerEngine, log_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("secret")
    mounts = (
        Mount(host_path=str(tmp_path / "token"), container_path="/var/run/secrets/token"),
        Mount(host_path="/bin/echo", container_path="/bin/nvidia-smi"),
    )
    script = "cat $WINDTUNNEL_ROOT/var/run/secrets/token; nvidia-smi ' found'"
    record = ended(plain, log_path, "sh", "-c", script, mounts=mounts)

    assert plain.isolation is Isolation.NONE
    assert "plain processes" in plain.isolation_message
    assert (record.exit_code, said(log_path)) == (0, "secret found")


def test_a_plain_process_is_told_where_its_mounts_are(
    plain: ContainerEngine, log_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "init.sh").write_text("echo begun")
    mounts = (Mount(host_path=str(tmp_path), container_path="/scripts"),)
    record = ended(plain, log_path, "sh", "/scripts/init.sh", mounts=mounts)

    assert (record.exit_code, said(log_path)) == (0, "begun")


def test_plain_processes_end_and_exec_too(plain: ContainerEngine, log_path: Path) -> None:
    container_id = up(plain, log_path)
    assert plain.exec_sync(container_id, ["sh", "-c", "exit 3"], 20) == Ended(3)
    plain.stop(container_id, 20)

    record = plain.record(container_id)
    assert record is not None
    assert record.exit_code == 0
    plain.remove(container_id)
    with pytest.raises(StartFailed, match="not found in"):
        plain.start(plain.create(make_order(log_path, "nosuch")))
