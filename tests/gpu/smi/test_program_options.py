"""What nvidia-smi is asked for on its command line, and what it refuses."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.gpu.smi.conftest import A100, Run, Topology

BOTH = {"MOCK_NVIDIA_VISIBLE_DEVICES": "GPU-1,GPU-2"}
CSV = "--format=csv"
LIST_0 = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"
LIST_1 = "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\n"
ALONE = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\n"

LISTS = {
    "-L": (("-L",), LIST_0 + LIST_1),
    "one by index": (("--list-gpus", "-i", "1"), LIST_1),
    "one by UUID": (("-L", "--id=GPU-1"), LIST_0),
    "one by bus id": (("-L", "-i", "00000000:0F:00.0"), LIST_1),
    "one by a short bus id in small letters": (("-L", "-i", "0000:0f:00.0"), LIST_1),
    "one by bus and device": (("-L", "-i", "07:00.0"), LIST_0),
    "several": (("-L", "--id", "GPU-2,0"), LIST_0 + LIST_1),
    "versions": (
        ("--version",),
        "NVIDIA-SMI version  : 550.163.01\n"
        "NVML version        : 550.163\n"
        "DRIVER version      : 550.163.01\n"
        "CUDA Version        : 12.4\n",
    ),
    "fields": (
        (
            "--query-gpu=index,gpu_uuid,pci.bus_id,memory.used,utilization.gpu,power.draw,"
            "temperature.gpu",
            CSV,
        ),
        "index, uuid, pci.bus_id, memory.used [MiB], utilization.gpu [%], power.draw [W], "
        "temperature.gpu\n"
        "0, GPU-1, 00000000:07:00.0, 0 MiB, 0 %, 72.00 W, 33\n"
        "1, GPU-2, 00000000:0F:00.0, 20480 MiB, 50 %, 236.00 W, 49\n",
    ),
    "fields without units": (
        ("--query-gpu=count, clocks.sm ,clocks.video", "--format", "noheader,csv,nounits"),
        "2, 210, 210\n2, 1410, 1410\n",
    ),
    "fields that nobody imitates": (
        ("--query-gpu=inforom.img,fan.speed,pci.device_id", CSV, "-i", "0"),
        "inforom.img, fan.speed [%], pci.device_id\n[N/A], [N/A], 0x20B010DE\n",
    ),
    "an older name of a field": (
        ("--query-gpu=clocks_throttle_reasons.active,gpu_name", CSV, "-i", "1"),
        "clocks_event_reasons.active, name\n0x0000000000000000, NVIDIA A100-SXM4-40GB\n",
    ),
    "the matrix": (
        ("topo", "-m"),
        "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
        "GPU0\t X \tNV12\tCPUS\t0\t\tN/A\n"
        "GPU1\tNV12\t X \tCPUS\t0\t\tN/A\n",
    ),
    "devices, monitored": (
        ("dmon", "-c", "1", "-s", "pucm"),
        "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk"
        "     fb   bar1   ccpm \n"
        "# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz"
        "     MB     MB     MB \n"
        "    0     72     33      -      0      0      0      0      0      0   1215    210"
        "      0      0      0 \n"
        "    1    236     49      -     50     25      0      0      0      0   1215   1410"
        "  20480      0      0 \n",
    ),
}


@pytest.mark.parametrize(("words", "said"), LISTS.values(), ids=LISTS)
def test_what_is_asked_for_is_said(run: Run, words: tuple[str, ...], said: str) -> None:
    code, printed, complaints = run(*words, **BOTH)

    online = Path("/sys/devices/system/cpu/online").read_text().strip()
    assert printed.startswith(said.replace("CPUS", online))
    assert words[0] == "topo" or len(printed) == len(said)
    assert (code, complaints) == (0, "")


def test_gpus_of_pcie_boards_are_near_or_far(run: Run, topology: Topology) -> None:
    status = {"AllocatedBy": {"Namespace": "", "Pod": "train-0", "Container": ""}}
    gpus = [{"ID": f"GPU-{i}", "Status": status} for i in range(4)]
    topology.body = json.dumps(A100 | {"GpuProduct": "NVIDIA T4", "Gpus": gpus})

    rows = [line.split("\t") for line in run("topo", "-m", "-i", "0,1,2")[1].split("\n")]

    assert rows[1][:4] == ["GPU0", " X ", "NODE", "SYS"]
    assert rows[3][:4] == ["GPU2", "SYS", "SYS", " X "]
    assert [row[5] for row in rows[1:4]] == ["0", "0", "1"]


APPS = {
    "under all names": (
        "pid,name,used_memory,gpu_uuid",
        "pid, process_name, used_gpu_memory [MiB]",
    ),
    "under those of the header": ("pid,process_name,used_gpu_memory,gpu_uuid", "pid, process_name"),
}


@pytest.mark.parametrize(("fields", "header"), APPS.values(), ids=APPS)
def test_processes_have_the_pid_and_the_name_of_the_first(
    run: Run, fields: str, header: str
) -> None:
    first = Path("/proc/1/cmdline").read_bytes()[:50].strip(b"\0").replace(b"\0", b" ").decode()

    head, row, end = run(f"--query-compute-apps={fields}", CSV, **BOTH)[1].split("\n")

    assert head.startswith(header)
    assert head.endswith(", gpu_uuid")
    assert (row, end) == (f"1, {first}, 20480 MiB, GPU-2", "")


def test_a_short_name_of_a_process_ends_with_its_last_word(run: Run, tmp_path: Path) -> None:
    """Where its end is read too; only in a place where we are the first process can we say so."""
    apart = [shutil.which("unshare") or "false", "-rpf", "--mount-proc", shutil.which("sh") or "sh"]
    if subprocess.run([*apart, "-c", ":"], check=False, capture_output=True).returncode:
        pytest.skip("needs to make namespaces")
    asked = (
        "import os, shlex",
        f"os.chdir({str(tmp_path)!r})",
        "open('job', 'w').write(shlex.join(command) + '; true')",
        f"subprocess.run([*{apart!r}, 'job'])",
    )

    query = ("--query-compute-apps=process_name", "--format=csv,noheader")
    assert run(*query, adopted="; ".join(asked))[1] == f"{apart[-1]} job\n"


def test_processes_are_monitored(run: Run) -> None:
    head, units, idle, busy, end = run("pmon", "-c", "1", **BOTH)[1].split("\n")

    assert head.split() == [
        "#",
        "gpu",
        "pid",
        "type",
        "sm",
        "mem",
        "enc",
        "dec",
        "jpg",
        "ofa",
        "command",
    ]
    assert units.split()[:4] == ["#", "Idx", "#", "C/G"]
    assert idle.split() == ["0", *["-"] * 9]
    assert busy.startswith("    1          1     C     50     25      -      -      -      -    ")
    assert end == ""


@pytest.mark.parametrize("kind", ["gpu", "compute-apps"])
def test_every_field_that_is_listed_is_answered(run: Run, topology: Topology, kind: str) -> None:
    code, listed, _ = run(f"--help-query-{kind}")
    assert (code, topology.asked) == (0, [])
    # Exporters look for names in quotes after an empty line.
    names = [part.split('"')[1] for part in listed.split("\n\n") if part.startswith('"')]

    code, printed, _ = run(f"--query-{kind}={','.join(names)}", CSV)

    header, row, _ = printed.split("\n")
    assert code == 0
    assert [title.split(" ")[0] for title in header.split(", ")] == names
    assert len(row.split(", ")) == len(names)


def test_the_report_has_columns(run: Run) -> None:
    code, printed, _ = run("-q", "-i", "0")

    assert code == 0
    assert f"{'    Minor Number':42}: 1\n" in printed
    assert f"{'    Product Architecture':42}: Ampere\n" in printed
    assert f"{'        Max Power Limit':42}: 400.00 W\n" in printed
    assert run("-q", "-i", "1") == (6, "No devices were found\n", "")


def test_the_report_has_only_the_sections_that_are_asked_for(run: Run) -> None:
    printed = run("-q", "-d", "MEMORY,ENCODER_STATS")[1]

    keys = [line.split(":")[0].strip() for line in printed.split("GPU 0000")[1].split("\n")[1:]]
    assert [key for key in keys if key] == [
        *("FB Memory Usage", "Total", "Reserved", "Used", "Free"),
        "Encoder Stats",
    ]
    code, said, _ = run("-q", "--display=MEMORY,FOO")
    assert code == 2
    assert said.startswith('ERROR: "FOO" is no section of -d')


def test_the_report_can_be_xml(run: Run, topology: Topology) -> None:
    answer = copy.deepcopy(A100) | {"GpuProduct": "A & B <C>"}
    answer["Gpus"][0]["Mig"] = [
        {"ID": "MIG-a", "Profile": "3g.20gb", "Start": 0, "InstanceID": 1, "Status": {}}
    ]
    topology.body = json.dumps(answer)

    code, printed, _ = run("-q", "-x", **BOTH)

    log = ElementTree.fromstring(printed)
    first, second = log.findall("gpu")
    assert (code, log.tag, log.findtext("attached_gpus")) == (0, "nvidia_smi_log", "2")
    assert second.get("id") == "00000000:10:00.0"
    assert second.findtext("product_name") == "A & B <C>"
    assert second.findtext("uuid") == "GPU-2"
    assert second.findtext("fb_memory_usage/used") == "20480 MiB"
    assert second.findtext("utilization/gpu_util") == "50 %"
    assert second.findtext("processes/process_info/pid") == "1"
    assert second.find("mig_devices") is None
    assert first.findtext("mig_devices/mig_device/gpu_instance_id") == "1"
    assert first.findall("processes/process_info") == []


def cut() -> dict[str, Any]:
    answer = copy.deepcopy(A100)
    shapes = (("3g.20gb", 9, 4, 4, 2), ("1g.5gb", 19, 0, 1, 7), ("2g.10gb", 14, 2, 2, 4))
    answer["Gpus"][1]["Mig"] = [
        {
            "ID": f"MIG-{name}",
            "Profile": name,
            "ProfileID": profile,
            "Start": start,
            "Size": size,
            "InstanceID": instance,
            "Status": {},
        }
        for name, profile, start, size, instance in shapes
    ]
    return answer


INSTANCES = {
    "-lgi": """\
+-------------------------------------------------------+
| GPU instances:                                        |
| GPU   Name             Profile  Instance   Placement  |
|                          ID       ID       Start:Size |
|=======================================================|
|   0  MIG 1g.5gb          19        7          0:1     |
+-------------------------------------------------------+
|   0  MIG 2g.10gb         14        4          2:2     |
+-------------------------------------------------------+
|   0  MIG 3g.20gb          9        2          4:4     |
+-------------------------------------------------------+
""",
    "-lci": """\
+--------------------------------------------------------------------+
| Compute instances:                                                 |
| GPU     GPU       Name             Profile   Instance   Placement  |
|       Instance                       ID        ID       Start:Size |
|         ID                                                         |
|====================================================================|
|   0      7       MIG 1g.5gb           0         0          0:1     |
+--------------------------------------------------------------------+
|   0      4       MIG 2g.10gb          1         0          0:2     |
+--------------------------------------------------------------------+
|   0      2       MIG 3g.20gb          2         0          0:3     |
+--------------------------------------------------------------------+
""",
}


@pytest.mark.parametrize("option", INSTANCES)
def test_instances_are_listed(run: Run, topology: Topology, option: str) -> None:
    topology.body = json.dumps(cut())

    assert run("mig", option) == (0, INSTANCES[option], "")
    assert run("mig", option, "-i", "0", **BOTH) == (6, "No MIG-enabled devices found.\n", "")


HELP = "Please run 'nvidia-smi -h' for help."
REFUSED = {
    "a word": (("foo",), 2, f"ERROR: Option foo is not recognized. {HELP}"),
    "an option": (("--foo=1",), 2, f"ERROR: Option --foo is not recognized. {HELP}"),
    "one without its value": (("-i",), 2, f"ERROR: Option -i needs a value. {HELP}"),
    "a pause that is none": (
        ("-lms", "soon"),
        2,
        f"ERROR: Option -lms takes a whole number above 0, not 'soon'. {HELP}",
    ),
    "another format": (
        ("--query-gpu=name", "--format=json"),
        2,
        f"ERROR: --format=json has no csv, the only format. {HELP}",
    ),
    "no format": (
        ("--query-gpu=name",),
        2,
        "--query-... needs --format=csv[,noheader][,nounits]",
    ),
    "a format without a query": (
        (CSV,),
        2,
        f"Invalid combination of input arguments. {HELP}",
    ),
    "to change something": (
        ("-pl", "200"),
        3,
        "Option -pl is not there for fake GPUs, of which nothing can be changed; "
        "'nvidia-smi -h' lists what is.",
    ),
    "another matrix": (
        ("topo", "-p2p", "r"),
        3,
        "nvidia-smi topo: of a fake GPU there is -m only, not '-p2p'.",
    ),
    "profiles": (
        ("mig", "-lgip"),
        3,
        "nvidia-smi mig: of a fake GPU there are -lgi and -lci only, not '-lgip'; "
        "how it is cut stands in the node's pool.",
    ),
    "a monitor with a log": (
        ("dmon", "-o", "T"),
        3,
        "nvidia-smi dmon: of a fake GPU there are -i, -s, -d, -c and -f only, not '-o'.",
    ),
    "another subcommand": (
        ("nvlink", "-s"),
        3,
        "nvidia-smi nvlink is not there for fake GPUs; topo, mig, dmon and pmon are.",
    ),
}


@pytest.mark.parametrize(("words", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_there_is_refused_in_one_sentence(
    run: Run, topology: Topology, words: tuple[str, ...], code: int, said: str
) -> None:
    assert run(*words) == (code, f"{said}\n", "")
    assert topology.asked == []


def test_a_field_that_is_none_is_refused(run: Run) -> None:
    said = 'Field "foo" is not a valid field to query.\n\n'

    assert run("--query-gpu=name,foo", CSV) == (2, said, "")
    assert run("--query-compute-apps=uuid", CSV)[0] == 2


def test_help_names_what_there_is(run: Run, topology: Topology) -> None:
    code, printed, complaints = run("-h")

    assert (code, complaints, topology.asked) == (0, "", [])
    for word in ("-L", "-q", "-x", "-d", "--query-gpu=", "-i", "-f", "-lms", "topo -m", "dmon"):
        assert f" {word}" in printed


USAGE = "Usage of nvidia-smi:\n  -debug\n    \tenable debug mode\n"
ORIGINAL = {
    "-h": (("-h",), 0, USAGE),
    "an unknown option": (("--foo=1",), 2, "flag provided but not defined: -foo\n" + USAGE),
    "an option without its value": (("-i",), 2, "flag needs an argument: -i\n" + USAGE),
    "debug is a yes or a no": (
        ("-debug=maybe",),
        2,
        'invalid boolean value "maybe" for -debug: parse error\n' + USAGE,
    ),
}


@pytest.mark.parametrize(("words", "code", "said"), ORIGINAL.values(), ids=ORIGINAL)
def test_words_of_the_command_line_as_the_original(
    run: Run, topology: Topology, words: tuple[str, ...], code: int, said: str
) -> None:
    assert run(*words, WINDTUNNEL_COMPAT="0.2") == (code, "", said)
    assert run(*words, TOPOLOGY_SERVER_URL="") == (code, "", said)  # nobody's container
    assert topology.asked == []


def test_as_the_original_the_first_plain_word_ends_the_options(run: Run) -> None:
    code, printed, _ = run("-debug", "dmon", "--foo", WINDTUNNEL_COMPAT="0.2")

    assert code == 0
    assert "| NVIDIA-SMI 550.163.01 " in printed


def test_a_file_gets_what_is_printed(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "log"

    assert run("-L", "-f", str(place)) == (0, "", "")
    assert place.read_text() == ALONE


LOOPS = {
    "-l": (("-l", "1"), 2),
    "--loop": (("--loop=1", "-L"), 2),
    "-lms, with one header": (("--query-gpu=index", CSV, "-lms", "50"), 3),
    "dmon, with one header": (("dmon",), 2),
}


@pytest.mark.parametrize(("words", "turns"), LOOPS.values(), ids=LOOPS)
def test_it_is_said_again_as_long_as_there_is_an_answer(
    run: Run, topology: Topology, words: tuple[str, ...], turns: int
) -> None:
    topology.turns = turns

    code, printed, _ = run(*words)

    assert code == 1
    assert len(topology.asked) == turns + 1
    if CSV in words:
        assert printed == "index\n" + "0\n" * turns + "No devices were found\n"
    if words == ("dmon",):
        assert printed.count("# gpu") == 1
