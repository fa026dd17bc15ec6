"""nvidia-smi, in every shell and awk there is here."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.gpu.smi.conftest import A100, Run, Topology

from windtunnel.gpu import smi

TABLE = """\
+------------------------------------------------------------------------------+
| NVIDIA-SMI 550.163.01   Driver Version: 550.163.01   CUDA Version: 12.4      |
+--------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                |                      |               MIG M. |
+--------------------------------+----------------------+----------------------+
|   0  NVIDIA A10..          Off | 00000001:00:00.0 Off |                  Off |
| N/A   33C    P8    11W /  70W  |  20480MiB / 40960MiB |      50%     Default |
|                                |                      |                  N/A |
+--------------------------------+----------------------+----------------------+

+------------------------------------------------------------------------------+
| Processes:                                                                   |
|  GPU   GI   CI        PID   Type   Process name                  GPU Memory  |
|        ID   ID                                                   Usage       |
+------------------------------------------------------------------------------+
"""


def test_the_table_shows_the_pods_gpu_to_the_byte(run: Run, topology: Topology) -> None:
    code, printed, complaints = run()

    first, rest = printed.split("\n", 1)
    assert re.fullmatch(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", first)
    assert rest.startswith(TABLE)
    process = rest.removeprefix(TABLE).split("\n")[0]
    assert len(process) == 80
    assert re.fullmatch(r"\|    0   N/A  N/A {7}1 {8}G   [^\0]* 20480MiB \|", process)
    assert (code, complaints, topology.asked) == (0, "", ["/topology/nodes/n1"])


def test_as_the_original_words_of_a_process_have_nuls_between(run: Run) -> None:
    words = Path("/proc/1/cmdline").read_bytes()[:50].strip(b"\0").decode()
    name = words if len(words) <= 29 else f"{words[:27]}.."

    table = TABLE.replace("|   0 ", "|   1 ")
    process = run(WINDTUNNEL_COMPAT="0.2")[1].split(table)[1].split("\n")[0]

    assert name in process
    assert len(process.replace("\0", "")) == 80


COMPAT = {"WINDTUNNEL_COMPAT": "0.2"}
GIVEN = "MOCK_NVIDIA_VISIBLE_DEVICES"
ROWS = {
    "by the pod's name": ({}, "0 GPU-2"),
    "by the pod's uid": ({"HOSTNAME": "x", "POD_UUID": "uid-1"}, "0 GPU-2"),
    "what the kubelet gave": ({"HOSTNAME": "node", GIVEN: "GPU-2,GPU-1"}, "0 GPU-1 1 GPU-2"),
    "of a pod with more only what the container was given": ({GIVEN: "GPU-1"}, "0 GPU-1"),
    "by name where what was given is only counted": ({GIVEN: "no-such"}, "0 GPU-2"),
    "nothing": ({"HOSTNAME": "node"}, "No devices were found"),
    "as the original, by name and the node's index": ({GIVEN: "GPU-1"} | COMPAT, "1 GPU-2"),
    "as the original, the first of all where none is": ({"HOSTNAME": "node"} | COMPAT, "0 GPU-1"),
}


@pytest.mark.parametrize(("environment", "want"), ROWS.values(), ids=ROWS.keys())
def test_which_gpus_a_container_sees(run: Run, environment: dict[str, str], want: str) -> None:
    code, printed, _ = run("--query-gpu=index,uuid", "--format=csv,noheader", **environment)

    assert printed.replace(",", "").split() == want.split()
    assert code == (6 if want.startswith("No") else 0)


NOTHING = {
    "the table": ((), "No devices were found\n"),
    "the list": (("-L",), "No devices found.\n"),
    "the report": (("-q",), "No devices were found\n"),
    "processes": (("--query-compute-apps=pid", "--format=csv"), "No devices were found\n"),
    "the matrix": (("topo", "-m"), "No devices were found\n"),
}


@pytest.mark.parametrize(("words", "said"), NOTHING.values(), ids=NOTHING)
def test_a_container_without_gpus_is_told(run: Run, words: tuple[str, ...], said: str) -> None:
    assert run(*words, HOSTNAME="other-pod") == (6, said, "")


def test_no_process_is_left_behind(run: Run) -> None:
    """A container's first process often waits for nobody that is not its own child."""
    adopt = "import ctypes, os; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)"
    count = "open(f'/proc/self/task/{os.getpid()}/children').read()"
    assert run("-L", adopted=f"{adopt}; subprocess.run(command); print('left:', {count})")[1] == (
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\nleft: \n"
    )


def test_a_share_of_a_gpu_has_a_share_of_its_memory(run: Run) -> None:
    query = ("--query-gpu=memory.total,memory.used", "--format=csv,noheader,nounits")

    assert run(*query, RUNAI_NUM_OF_GPUS="0.25") == (0, "10240, 5120\n", "")


def test_a_share_that_is_no_number_is_told_and_ignored(run: Run) -> None:
    code, printed, complaints = run(RUNAI_NUM_OF_GPUS="half")

    assert TABLE in printed
    assert code == 0
    assert complaints.startswith('parsing RUNAI_NUM_OF_GPUS "half": ')


def piece(name: str, profile: str, instance: int, pod: str = "") -> dict[str, Any]:
    owner = {"Namespace": "ml" if pod else "", "Pod": pod, "Container": ""}
    status = {"AllocatedBy": owner, "PodGpuUsageStatus": {}}
    return {"ID": name, "Profile": profile, "Start": 0, "InstanceID": instance, "Status": status}


def test_slices_are_listed_under_their_gpu(run: Run, topology: Topology) -> None:
    answer = copy.deepcopy(A100)
    first, second = answer["Gpus"]  # type: ignore[misc]
    first["Mig"] = [piece("MIG-a", "3g.20gb", 2), piece("MIG-b", "1g.5gb", 7, "train-0")]
    second["Mig"] = [piece("MIG-c", "2g.10gb", 4), piece("MIG-d", "3g.20gb", 1)]
    topology.body = json.dumps(answer)

    assert run("-L", HOSTNAME="train-0")[1] == (
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"
        "  MIG 1g.5gb       Device  0: (UUID: MIG-b)\n"
        "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\n"
        "  MIG 3g.20gb      Device  0: (UUID: MIG-d)\n"
        "  MIG 2g.10gb      Device  1: (UUID: MIG-c)\n"
    )
    assert run("-L", HOSTNAME="x", MOCK_NVIDIA_VISIBLE_DEVICES="MIG-a")[1] == (
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n  MIG 3g.20gb      Device  0: (UUID: MIG-a)\n"
    )
    mode = ("--query-gpu=mig.mode.current", "--format=csv,noheader")
    assert run(*mode)[1] == "Enabled\nEnabled\n"


def test_a_gpu_that_is_lost_shows_errors(run: Run, topology: Topology) -> None:
    broken: Any = copy.deepcopy(A100)
    broken["Gpus"][1]["Fault"] = "XID 79"
    topology.body = json.dumps(broken)

    assert "|ERR!" in run()[1].replace("| ERR!", "|ERR!")
    query = run("--query-gpu=index,temperature.gpu,power.draw", "--format=csv,noheader")
    assert query[1].startswith("0, ")
    assert query[1].endswith("[GPU is lost]\n")


def test_a_refusal_is_told(run: Run, topology: Topology) -> None:
    topology.status, topology.body = 404, "Node topology not found"

    code, printed, complaints = run()

    assert (code, printed) == (1, "No devices were found\n")
    assert f"{topology.url}/topology/nodes/n1 returned 404 Not Found: " in complaints


@pytest.mark.parametrize("body", ["Cant", '{"Gpus": [', "[]", '{"Gpus": []} x', ""])
def test_an_answer_that_is_no_topology_is_told(run: Run, topology: Topology, body: str) -> None:
    topology.body = body

    code, printed, complaints = run()

    assert (code, printed) == (1, "Failed to parse devices data\n")
    assert complaints.startswith(f"decoding topology from {topology.url}/topology/nodes/n1: ")


def test_a_server_that_is_not_there_is_told(run: Run) -> None:
    code, printed, complaints = run(TOPOLOGY_SERVER_URL="http://127.0.0.1:1")

    assert code == 1
    assert "couldn't communicate with the topology server" in printed
    assert complaints.startswith("fetching topology from http://127.0.0.1:1/topology/nodes/n1: ")


def test_texts_with_escapes_and_brackets_are_read(run: Run, topology: Topology) -> None:
    topology.body = json.dumps(A100 | {"GpuProduct": 'A "B" {C}, [D]: \\ \t'}, indent=2)

    assert run("-L")[1] == 'GPU 0: A "B" {C}, [D]: \\ \t (UUID: GPU-2)\n'


def test_facts_of_products_are_those_of_the_profiles() -> None:
    chart = Path(smi.__file__).parents[1] / "chart" / "windtunnel" / "profiles"
    lines = re.findall(r'know\("([^|"]+\|.*)"\)', smi.PROGRAM.read_text())
    profiles = {}
    for file in chart.glob("*.yaml"):
        tree = yaml.safe_load(file.read_text())
        facts, power = tree["device_defaults"], tree["device_defaults"]["power"]
        heat, clocks = facts["thermal"], facts["clocks"]
        mw = ("current_draw_mw", "default_limit_mw", "min_limit_mw", "max_limit_mw")
        profiles[facts["name"]] = [
            facts["name"],
            facts["architecture"].replace("_", " ").title(),
            "{major}.{minor}".format(**facts["compute_capability"]),
            *(str(power[key] // 1000) for key in mw),
            str(heat["temperature_gpu_c"]),
            str(heat["slowdown_threshold_c"]),
            str(heat["shutdown_threshold_c"]),
            str(clocks["sm_current"]),
            str(clocks["sm_max"]),
            str(clocks["memory_max"]),
            str(facts["pcie"]["max_link_gen"]),
            str(facts["mig"]["max_gpu_instances"]),
            facts["vbios_version"],
            tree["devices"][0]["serial"][:-2],
            " ".join(device["pci"]["bus_id"][5:7] for device in tree["devices"]),
            str(tree.get("nvlink", {}).get("links_per_gpu", 0)),
            f"{facts['pci']['device_id']:08X}",
        ]

    assert {line.split("|")[0]: line.split("|") for line in lines} == profiles
