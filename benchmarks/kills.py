"""Kill every part of a cluster at every step of the lab; see that it heals, and how soon.

At each moment of the lab each victim is killed with SIGKILL: the server (and started again on its
data), the node's process, the first process of each of the operator's containers and of a user's
container, and what stands between them and the node. Healed is: the node is ready and can give as
many GPUs as it has, every pod of the operator and of the lab runs and is ready, kubelet, ConfigMap
and ledger tell the same account, and ``nvidia-smi`` in gpu-1 shows the GPU that it was given. It
must stay so for a while; what counts is when it began.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from windtunnel.gpu.chart import CHART
from windtunnel.kernel import WallClock

LIMIT_SECONDS: Final = 15.0
STEADY_SECONDS: Final = 2.0
GIVEN_UP_SECONDS: Final = 60.0
ORPHAN_SECONDS: Final = 3.0
CLOCK: Final = WallClock()
IMAGE: Final = "registry.k8s.io/e2e-test-images/busybox:1.36.1-1"
AGENTS: Final = (
    "device-plugin",
    "status-exporter",
    "status-exporter-kwok",
    "status-updater",
    "kwok-gpu-device-plugin",
    "topology-server",
)
MOMENTS: Final = ("installation", "gpu-1", "full", "upgrade", "far", "deletion")


@dataclass
class World:
    """One cluster in a home of its own, and what is expected of it."""

    home: Path
    kubectl: Path
    helm: Path
    gpus: int = 2
    pods: tuple[str, ...] = ()
    """The pods of the lab that have a GPU of node-0."""
    far: bool = False
    struck: str = ""
    """The victim whose successor must run."""

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ
        }
        return kept | {
            "HOME": str(self.home),
            "WINDTUNNEL_HOME": str(self.home / "state"),
            "KUBECONFIG": str(self.home / "kubeconfig"),
        }

    def run(self, *command: str | Path, text: str = "", patience: float = 60) -> str:
        """Run a program to its end; what it prints, or "" with what it says on failure."""
        done = subprocess.run(
            [str(part) for part in command],
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience,
        )
        if done.returncode:
            raise OSError(f"{' '.join(map(str, command[:4]))}: {done.stderr.strip()[-400:]}")
        return done.stdout

    def windtunnel(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "windtunnel", *arguments)

    def up(self) -> None:
        self.windtunnel("up", "--detach", "--port", "0", "--data-dir", str(self.home / "data"))

    def api(self, *arguments: str, text: str = "") -> str:
        return self.run(self.kubectl, *arguments, text=text)

    def server(self) -> int:
        return int(json.loads((self.home / "state/default/process.json").read_text())["pid"])


@dataclass(frozen=True)
class Running:
    """A process, known by its id and its birth."""

    pid: int
    birth: str
    parent: int
    command: str

    @property
    def alive(self) -> bool:
        found = look(self.pid)
        return found is not None and found.birth == self.birth


def look(pid: int) -> Running | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return None
    return None if stat[0] in "ZX" else Running(pid, stat[19], int(stat[1]), command)


def tree(root: int) -> list[Running]:
    """Return a process and all that descend from it."""
    everyone = [
        found
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (found := look(int(entry.name)))
    ]
    found = [each for each in everyone if each.pid == root]
    for each in found:
        found.extend(child for child in everyone if child.parent == each.pid)
    return found


def ancestors(pid: int) -> Iterator[int]:
    """Name a process, its parent, and so on."""
    found = look(pid)
    while found is not None:
        yield found.pid
        found = look(found.parent)


def left_of(home: Path) -> list[str]:
    """Name what a cluster has left on the machine: processes, mounts, sockets, groups."""
    mine = str(home)
    left = []
    ourselves = set(ancestors(os.getpid()))
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in ourselves and mine in _told(entry):
            found = look(int(entry.name))
            if found is not None:
                left.append(f"process {found.pid} {found.command[:80]}")
    left += [
        f"mount {line}" for line in Path("/proc/mounts").read_text().splitlines() if mine in line
    ]
    link = home / "state/default/node/root/var/lib/kubelet/device-plugins"
    if link.is_symlink() and link.exists():
        left.append(f"sockets {link.readlink()}")
    containers = home / "state/default/node/containers"
    if containers.exists():
        left.append(f"containers {containers}")
    return left


def _told(process: Path) -> str:
    """Return all that a process says of where it belongs."""
    told = ""
    for name in ("root", "cwd"):
        with suppress(OSError):
            told += str((process / name).readlink())
    for name in ("cmdline", "environ"):
        with suppress(OSError):
            told += (process / name).read_bytes().decode(errors="replace")
    return told


# What healed means.


def troubles(world: World) -> list[str]:
    """Return what is not as it should be."""
    try:
        if world.struck and not victims(world, world.struck):
            return [f"there is no new {world.struck}"]
        return list(_troubles(world))
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return [str(error)]


def _troubles(world: World) -> Iterator[str]:
    seen = json.loads(
        world.api("get", "nodes,pods,configmaps", "-A", "-o", "json", "--request-timeout=5s")
    )["items"]
    of_kind: dict[str, list[Any]] = {}
    for each in seen:
        of_kind.setdefault(each["kind"], []).append(each)
    nodes = {each["metadata"]["name"]: each for each in of_kind.get("Node", [])}
    wanted = {"node-0": world.gpus} | ({"gpu-a": world.gpus} if world.far else {})
    for name, gpus in wanted.items():
        status = nodes[name]["status"] if name in nodes else {}
        ready = [c["status"] for c in status.get("conditions", ()) if c["type"] == "Ready"]
        if ready != ["True"]:
            yield f"{name} is not ready"
        for figure in ("capacity", "allocatable"):
            given = status.get(figure, {}).get("nvidia.com/gpu")
            if given != str(gpus):
                yield f"{name} has {figure} {given}"
    pods = {
        (each["metadata"]["namespace"], each["metadata"]["name"]): each
        for each in of_kind.get("Pod", [])
    }
    operator = [each for (namespace, _), each in pods.items() if namespace == "gpu-operator"]
    live = [each for each in operator if each["status"].get("phase") not in ("Failed", "Succeeded")]
    if len(live) != len(AGENTS):
        yield f"the operator has {len(live)} pods"
    lab = [pods.get(("fake-lab", name)) for name in world.pods]
    for each in (*live, *lab):
        if each is None:
            yield "a pod of the lab is lost"
        elif each["metadata"].get("deletionTimestamp"):
            yield f"{each['metadata']['name']} is being deleted"
        elif not _ready(each):
            yield f"{each['metadata']['name']} is {each['status'].get('phase')}, not ready"
    if not world.pods:
        return
    yield from _account(world, [each for each in lab if each], of_kind["ConfigMap"])


def _account(world: World, lab: list[Any], config_maps: list[Any]) -> Iterator[str]:
    """Compare what kubelet, operator and ledger say of who has which GPU."""
    text = next(
        (
            c["data"]["topology.yml"]
            for c in config_maps
            if c["metadata"]["name"] == "topology-node-0"
        ),
        "",
    )
    noted = {
        gpu: pod for gpu, pod in re.findall(r"id: (\S+)\n[\s\S]*?pod: (\S+)", text) if pod != '""'
    }
    checkpoint = world.home / "state/default/node/root/var/lib/kubelet/device-plugins"
    record = json.loads((checkpoint / "kubelet_internal_checkpoint").read_text())["Data"]
    names = {each["metadata"]["uid"]: each["metadata"]["name"] for each in lab}
    held = [
        (gpu, names[entry["PodUID"]])
        for entry in record["PodDeviceEntries"] or ()
        # A kubelet forgets what a pod held that is gone when it next gives devices to one.
        if entry["PodUID"] in names
        for ids in entry["DeviceIDs"].values()
        for gpu in ids
    ]
    if dict(held) != noted or len(dict(held)) != len(held):
        yield f"kubelet gave {held}, the ConfigMap says {noted}"
    if sorted(pod for _, pod in held) != sorted(world.pods):
        yield f"GPUs are held by {held}"
    ledger = json.loads(world.windtunnel("ledger", "-o", "json"))
    wanted = len(world.pods) + (1 if world.far else 0)
    if ledger["requested"] != wanted:
        yield f"the ledger counts {ledger['requested']}"
    mine = {pod: gpu for gpu, pod in held}.get("gpu-1", "?")
    told = world.run(
        world.kubectl, *("exec", "gpu-1", "-n", "fake-lab", "--", "nvidia-smi", "-L"), patience=10
    )
    if mine not in told:
        yield f"nvidia-smi in gpu-1 says {told.strip()!r}, not {mine}"


def _ready(pod: Any) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def heal(world: World, since: float) -> tuple[float, str]:
    """Wait until all is well; return how long that took, and what was wrong last."""
    began: float | None = None
    last = ""
    while (now := CLOCK.now()) - since < GIVEN_UP_SECONDS:
        found = troubles(world)
        if found:
            began, last = None, "; ".join(found)
        elif began is None:
            began = now
        if began is not None and CLOCK.now() - began >= STEADY_SECONDS:
            return began - since, last
        threading.Event().wait(0.15)
    return GIVEN_UP_SECONDS, last


# Who is killed, and how.


@dataclass
class Blow:
    """One kill and what came of it."""

    moment: str
    victim: str
    seconds: float
    last: str
    load: float = 0.0
    """How many processes wanted the machine's processors when it was over."""
    left: list[str] = field(default_factory=list)


def victims(world: World, name: str) -> list[Running]:
    """Return the processes that a victim's name means."""
    server = world.server()
    ours = tree(server)
    if name == "server":
        return ours[:1]
    if name == "node":
        return [each for each in ours if each.parent == server and "agent kubelet" in each.command]
    agent, _, shell = name.partition("/")
    if agent == "gpu-1":
        found = [each for each in ours if "trap 'exit 0' TERM" in each.command]
        found = [each for each in found if each.command.startswith("sh ")][:1]
    else:
        found = [
            each
            for each in ours
            if re.search(rf"windtunnel agent {agent}( |$)", each.command)
            and "exec 9<&0" not in each.command
        ]
    if shell:
        parents = {each.parent for each in found}
        found = [each for each in ours if each.pid in parents]
    return found


def strike(world: World, moment: str, name: str, during: Callable[[], None]) -> Blow:
    """Kill a victim and watch the cluster heal."""
    during()
    found = victims(world, name)
    if not found:  # it is just being replaced
        threading.Event().wait(2.0)
        found = victims(world, name)
    if not found:
        return Blow(moment, name, GIVEN_UP_SECONDS, "there was nobody to kill")
    everyone = tree(world.server())
    for each in found:
        with suppress(ProcessLookupError):
            os.kill(each.pid, signal.SIGKILL)
    since = CLOCK.now()
    left: list[str] = []
    if name in ("server", "node"):
        gone = everyone if name == "server" else [e for e in everyone if e.pid != world.server()]
        while CLOCK.now() - since < ORPHAN_SECONDS and any(each.alive for each in gone):
            threading.Event().wait(0.05)
        left = [f"{each.pid} {each.command[:60]}" for each in gone if each.alive]
    if name == "server":
        since = CLOCK.now()
        world.up()
    world.struck = name
    seconds, last = heal(world, since)
    world.struck = ""
    return Blow(moment, name, seconds, last, os.getloadavg()[0], left)


@contextmanager
def busy(world: World) -> Iterator[None]:
    """Keep an exec open in gpu-1 meanwhile."""
    process = subprocess.Popen(
        [world.kubectl, "exec", "gpu-1", "-n", "fake-lab", "--", "sleep", "100"],
        env=world.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    threading.Event().wait(0.7)
    try:
        yield
    finally:
        process.kill()
        process.wait()


# The lab.


def gpu_pod(name: str, *, grace: int = 2, far: bool = False) -> str:
    where = {
        "nodeSelector": {"kubernetes.io/hostname": "gpu-a"},
        "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}],
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "fake-lab"},
            "spec": {
                "terminationGracePeriodSeconds": grace,
                **(where if far else {}),
                "containers": [
                    {
                        "name": "main",
                        "image": IMAGE,
                        "command": ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1; done"],
                        "resources": {"limits": {"nvidia.com/gpu": 1}},
                    }
                ],
            },
        }
    )


STUBBORN: Final = gpu_pod("slow-1", grace=6).replace("exit 0", "echo not yet")
FAR_NODE: Final = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "gpu-a",
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "type": "kwok",
                "kubernetes.io/hostname": "gpu-a",
                "run.ai/simulated-gpu-node-pool": "default",
            },
        },
        "spec": {
            "taints": [{"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}]
        },
    }
)


def apply(world: World, *objects: str) -> None:
    for each in objects:
        world.api("apply", "-f", "-", text=each)


def upgrade(world: World) -> None:
    world.run(
        *(world.helm, "upgrade", "gpu-operator", str(CHART), "-n", "gpu-operator"),
        *("--reuse-values", "--set", "topology.nodePools.default.gpuCount=4"),
    )
    world.gpus = 4


def reach(world: World, moment: str) -> Callable[[], None]:
    """Bring the lab to a moment; what is returned makes it come about just before a blow."""

    def nothing() -> None:
        return

    match moment:
        case "gpu-1":
            heal(world, CLOCK.now())
            world.api("create", "namespace", "fake-lab")
            world.api("wait", "--for=create", "sa/default", "-n", "fake-lab", "--timeout=20s")
            apply(world, gpu_pod("gpu-1"))
            world.pods = ("gpu-1",)
        case "full":
            apply(world, gpu_pod("gpu-2"))
            world.pods = ("gpu-1", "gpu-2")
        case "upgrade":
            apply(world, gpu_pod("gpu-3"))
            world.pods = ("gpu-1", "gpu-2", "gpu-3")
            turn = [0]

            def again() -> None:
                # Four, five, four, …: each blow meets a change that is under way.
                turn[0] += 1
                gpus = 4 if turn[0] % 2 else 5
                world.run(
                    *(world.helm, "upgrade", "gpu-operator", str(CHART), "-n", "gpu-operator"),
                    *("--reuse-values", "--set", f"topology.nodePools.default.gpuCount={gpus}"),
                )
                world.gpus = gpus

            again()
            heal(world, CLOCK.now())
            return again
        case "far":
            upgrade(world)
            apply(world, FAR_NODE, gpu_pod("far-1", far=True))
            world.far = True
        case "deletion":

            def deleting() -> None:
                world.api("wait", "--for=delete", "pod/slow-1", "-n", "fake-lab", "--timeout=30s")
                apply(world, STUBBORN)
                world.api("wait", "pod/slow-1", "-n", "fake-lab", "--for=condition=Ready")
                world.api("delete", "pod", "slow-1", "-n", "fake-lab", "--wait=false")
                threading.Event().wait(0.5)

            return deleting
    heal(world, CLOCK.now())
    return nothing


def rounds(moment: str, *, short: bool) -> list[str]:
    """Return who is killed at a moment, in an order in which each container begins afresh.

    A kill of the node or of the server lets the pauses of crashing containers begin anew. A third
    crash within minutes waits 20 s, as under any kubelet.
    """
    match moment:
        case "installation":
            return ["server"] if short else ["server", "node"]
        case "deletion":
            return ["node", "server"]
        case "gpu-1" if short:
            return ["device-plugin", "status-updater", "gpu-1", "node", "server", "gpu-1/shell"]
        case _ if short:
            return ["node", "server"]
    shells = [f"{name}/shell" for name in (*AGENTS, "gpu-1")]
    twice = ["device-plugin", "device-plugin"]
    return [*AGENTS, "gpu-1", "node", "node", *shells, "server", *twice, "node"]


def campaign(
    home: Path, programs: tuple[Path, Path], moments: list[str], *, short: bool
) -> list[Blow]:
    """Walk the lab and strike at each of its moments."""
    world = World(home, *programs)
    (home / "state").mkdir()
    blows: list[Blow] = []
    world.up()
    try:
        for moment in MOMENTS:
            during = reach(world, moment) if moment != "installation" else lambda: None
            if moment not in moments:
                continue
            for name in rounds(moment, short=short):
                if moment == "installation":
                    world.windtunnel("down")
                    subprocess.run(["rm", "-rf", str(home / "data")], check=True)
                    world.up()
                    threading.Event().wait(0.4 if name == "server" else 1.2)
                if name in ("node", "server") and moment == "gpu-1":
                    with busy(world):
                        blow = strike(world, moment, name, during)
                else:
                    blow = strike(world, moment, name, during)
                blows.append(blow)
                tell(blow)
    finally:
        world.windtunnel("down")
    left = left_of(home)
    if left:
        blows.append(Blow("the end", "down", 0.0, "", left=left))
        tell(blows[-1])
    return blows


def tell(blow: Blow) -> None:
    bad = blow.seconds > LIMIT_SECONDS or blow.left
    mark, why = ("BAD ", blow.last[:150]) if bad else ("    ", "")
    figures = f"{blow.seconds:6.1f} s  load {blow.load:4.1f}"
    print(f"{mark}{blow.moment:13} {blow.victim:30} {figures}  {why}")
    for line in blow.left:
        print(f"{'':44} left: {line}")
    sys.stdout.flush()


def main() -> None:
    """Run it; exit with 1 where something healed too late or was left behind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubectl", type=Path, required=True)
    parser.add_argument("--helm", type=Path, required=True)
    parser.add_argument("--short", action="store_true", help="a few victims only")
    parser.add_argument("--moments", default=",".join(MOMENTS))
    parser.add_argument("--home", type=Path, help="left as it is afterwards; by default a new one")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # whoever stops us stops the cluster
    home = given.home or Path(tempfile.mkdtemp(prefix="kills-"))
    home.mkdir(exist_ok=True)
    blows = campaign(home, (given.kubectl, given.helm), given.moments.split(","), short=given.short)
    bad = [blow for blow in blows if blow.seconds > LIMIT_SECONDS or blow.left]
    times = sorted(blow.seconds for blow in blows)
    print(f"{len(blows)} kills, {len(bad)} bad; slowest {times[-1]:.1f} s")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
