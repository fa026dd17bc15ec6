"""nvidia-smi, in every shell and awk there is here."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from windtunnel.gpu import smi

Run = Callable[..., tuple[int, str, str]]

A100 = {
    "GpuMemory": 40960,
    "GpuProduct": "NVIDIA A100-SXM4-40GB",
    "DriverVersion": "550.163.01",
    "CudaVersion": "12.4",
    "Gpus": [
        {
            "ID": "GPU-1",
            "Status": {
                "AllocatedBy": {"Namespace": "ml", "Pod": "other", "Container": "c"},
                "PodGpuUsageStatus": {},
            },
        },
        {
            "ID": "GPU-2",
            "Status": {
                "AllocatedBy": {"Namespace": "ml", "Pod": "train-0", "Container": "c"},
                "PodGpuUsageStatus": {
                    "uid-1": {"Utilization": {"Min": 50, "Max": 50}, "FbUsed": 20480},
                },
            },
        },
    ],
    "MigStrategy": "mixed",
    "OtherDevices": None,
}
TABLE = """\
+------------------------------------------------------------------------------+
| NVIDIA-SMI 550.163.01   Driver Version: 550.163.01   CUDA Version: 12.4      |
+--------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                |                      |               MIG M. |
+--------------------------------+----------------------+----------------------+
|   1  NVIDIA A10..          Off | 00000001:00:00.0 Off |                  Off |
| N/A   33C    P8    11W /  70W  |  20480MiB / 40960MiB |      50%     Default |
|                                |                      |                  N/A |
+--------------------------------+----------------------+----------------------+

+------------------------------------------------------------------------------+
| Processes:                                                                   |
|  GPU   GI   CI        PID   Type   Process name                  GPU Memory  |
|        ID   ID                                                   Usage       |
+------------------------------------------------------------------------------+
"""
SHELLS = ["sh", "bash", "busybox"]


class Topology:
    """A topology server that always says the same."""

    def __init__(self) -> None:
        self.status, self.body = 200, json.dumps(A100)
        self.asked: list[str] = []
        topology = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                topology.asked.append(self.path)
                self.send_response(topology.status)
                self.end_headers()
                self.wfile.write(topology.body.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def topology() -> Iterator[Topology]:
    made = Topology()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(params=SHELLS)
def run(request: pytest.FixtureRequest, topology: Topology, tmp_path: Path) -> Run:
    """Run the program under one shell; under busybox with nothing but its applets."""
    shell, path = request.param, "/usr/bin:/bin"
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"needs {shell}")
    command = [found]
    if shell == "busybox":
        command, path = [found, "sh"], str(tmp_path)
        for applet in ("sh", "awk", "cat", "date", "head", "tr", "wget", "timeout"):
            (tmp_path / applet).symlink_to(found)

    def call(*arguments: str, **environment: str) -> tuple[int, str, str]:
        known = {"PATH": path, "NODE_NAME": "n1", "HOSTNAME": "train-0"}
        done = subprocess.run(
            [*command, str(smi.PROGRAM), *arguments],
            env=known | {"TOPOLOGY_SERVER_URL": topology.url} | environment,
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return call


def test_the_table_shows_the_pods_gpu_to_the_byte(run: Run, topology: Topology) -> None:
    code, printed, complaints = run()

    first, rest = printed.split("\n", 1)
    assert re.fullmatch(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", first)
    assert rest.startswith(TABLE)
    process = rest.removeprefix(TABLE).split("\n")[0]
    assert len(process.replace("\0", "")) == 80
    assert re.fullmatch(r"\|    1   N/A  N/A {7}\d+ +G   .* 20480MiB +\|", process)
    assert (code, complaints, topology.asked) == (0, "", ["/topology/nodes/n1"])


ROWS = {
    "by the pod's name": ({}, "1"),
    "by the pod's uid": ({"HOSTNAME": "x", "POD_UUID": "uid-1"}, "1"),
    "by the devices the kubelet gave": (
        {"HOSTNAME": "node", "MOCK_NVIDIA_VISIBLE_DEVICES": "GPU-2,GPU-1"},
        "0,1",
    ),
    "the first of all where nothing matches": ({"HOSTNAME": "node"}, "0"),
}


@pytest.mark.parametrize(("environment", "want"), ROWS.values(), ids=ROWS.keys())
def test_which_gpus_are_the_pods(run: Run, environment: dict[str, str], want: str) -> None:
    _, printed, _ = run("--query-gpu=index", "--format=csv,noheader", **environment)

    assert printed.replace("\n", ",").rstrip(",") == want


def test_a_share_of_a_gpu_has_a_share_of_its_memory(run: Run) -> None:
    query = ("--query-gpu=memory.total,memory.used", "--format=csv,noheader,nounits")

    assert run(*query, RUNAI_NUM_OF_GPUS="0.25") == (0, "10240, 5120\n", "")


def test_a_share_that_is_no_number_is_told_and_ignored(run: Run) -> None:
    code, printed, complaints = run(RUNAI_NUM_OF_GPUS="half")

    assert TABLE in printed
    assert code == 0
    assert complaints.startswith('parsing RUNAI_NUM_OF_GPUS "half": ')


def test_lists_and_queries(run: Run) -> None:
    fields = "index,gpu_uuid,pci.bus_id,memory.used,utilization.gpu,power.draw,temperature.gpu"

    assert run("-L") == (0, "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\n", "")
    assert run(f"--query-gpu={fields}", "--format=csv")[1] == (
        "index, uuid, pci.bus_id, memory.used [MiB], utilization.gpu [%], power.draw [W], "
        "temperature.gpu\n"
        "1, GPU-2, 00000000:0F:00.0, 20480 MiB, 50 %, 236.00 W, 49\n"
    )
    assert run("--query-gpu=name,foo", "--format=csv")[:2] == (
        2,
        'Field "foo" is not a valid field to query.\n\n',
    )
    assert run("--query-gpu=name")[0] == 2


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


def test_the_report_has_columns(run: Run) -> None:
    code, printed, _ = run("-q", "-i", "1")

    assert code == 0
    assert f"{'    Product Architecture':42}: Ampere\n" in printed
    assert f"{'        Max Power Limit':42}: 400.00 W\n" in printed
    assert run("-q", "-i", "0") == (6, "No devices were found\n", "")


def test_a_gpu_that_is_lost_shows_errors(run: Run, topology: Topology) -> None:
    broken: Any = copy.deepcopy(A100)
    broken["Gpus"][1]["Fault"] = "XID 79"
    topology.body = json.dumps(broken)

    assert "|ERR!" in run()[1].replace("| ERR!", "|ERR!")
    query = run("--query-gpu=index,temperature.gpu,power.draw", "--format=csv,noheader")
    assert query[1].startswith("1, ")
    assert query[1].endswith("[GPU is lost]\n")


USAGE = "Usage of nvidia-smi:\n  -debug\n    \tenable debug mode\n"
WORDS = {
    "-h": (("-h",), 0, USAGE),
    "an unknown option": (("--foo=1",), 2, "flag provided but not defined: -foo\n" + USAGE),
    "an option without its value": (("-i",), 2, "flag needs an argument: -i\n" + USAGE),
    "debug is a yes or a no": (
        ("-debug=maybe",),
        2,
        'invalid boolean value "maybe" for -debug: parse error\n' + USAGE,
    ),
}


@pytest.mark.parametrize(("words", "code", "said"), WORDS.values(), ids=WORDS.keys())
def test_words_of_the_command_line(
    run: Run, topology: Topology, words: tuple[str, ...], code: int, said: str
) -> None:
    assert run(*words) == (code, "", said)
    assert topology.asked == []


def test_what_comes_after_the_first_plain_word_is_ignored(run: Run) -> None:
    assert TABLE in run("-debug", "dmon", "--foo")[1]


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

    assert run("-L")[1] == 'GPU 1: A "B" {C}, [D]: \\ \t (UUID: GPU-2)\n'


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
        ]

    assert {line.split("|")[0]: line.split("|") for line in lines} == profiles
