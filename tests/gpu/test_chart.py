"""The chart under the real helm: as it was rendered ahead, and with values that hurt."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e import programs

from windtunnel.devices import MigEntry, parse_cluster_topology
from windtunnel.gpu.chart import CHART
from windtunnel.gpu.chart.installation import read_rendered

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.real

SECTIONS = list(yaml.safe_load((CHART / "values.yaml").read_text()))
WRONG = {
    "topology.nodePools.default.gpuCount=four": "gpuCount",
    "topology.nodePools.default.gpuCount=-1": "gpuCount",
    "topology.nodePools.default.gpucount=1": "gpucount",
    "topology.migStrategy=some": "migStrategy",
    "topology.nodePools.default.sharing.timeSlicing.resources[0].replicas=1": "replicas",
    "topology.nodePools.default.sharing.slices=1": "slices",
    "topology.nodePools.default.mig[0].mig-devices.1g\\.5gb=-1": "1g.5gb",
    "topology.nodePools.default.migStrategy=some": "migStrategy",
    "devicePlugin.enabled=maybe": "devicePlugin",
    "statusExporter.topologyMaxExportInterval=soon": "topologyMaxExportInterval",
    "compat=9": "compat",
    "apiServer.port=abc": "port",
    "apiServer.port=0": "port",
    "apiServer.port=99999999": "port",
    "apiServer.host=https://api": "host",
    "topology.nodePoolLabelKey=not a label!!": "nodePoolLabelKey",
    "topology.nodePools.BAD_NAME!.gpuCount=1": "BAD_NAME!",
    f"topology.nodePools.{'p' * 64}.gpuCount=1": "p" * 64,
    "topology.nodePools.default.otherDevices[0].name=two words": "name",
    "topology.nodePools.default.resources[0].a b=1": "a b",
    "environment.resourceReservationNamespace=Not_A_Namespace": "resourceReservationNamespace",
    "devicePlugin.image.repository=Upper/Case": "repository",
    "devicePlugin.image.tag=a b": "tag",
    "devicePlugin.resources.limits.cpu=some": "cpu",
    "customProfiles.My_Profile.device_count=1": "My_Profile",
    "fullnameOverride=Not_A_Name": "fullnameOverride",
    "imageRegistry=https://registry.example": "imageRegistry",
    "imagePullSecrets[0]=mine": "imagePullSecrets",
}
RIGHT = [
    "apiServer.port=",
    "apiServer.port=6443",
    "apiServer.host=fd00::1",
    "apiServer.host=api.example.com",
    "topology.nodePoolLabelKey=a/b",
    "topology.nodePools.Pool_1\\.x.gpuCount=1",
    "topology.nodePools.default.otherDevices[0].name=nvidia.com/mig-1g.5gb,"
    "topology.nodePools.default.otherDevices[0].count=3",
    "devicePlugin.image.repository=localhost:5000/a__b/c.d-e@sha256",
    "devicePlugin.image.tag=v1.2_3-rc.1",
    "devicePlugin.resources.limits.cpu=1.5",
    "devicePlugin.resources.limits.memory=128M",
    "devicePlugin.resources.limits.cpu=null",
    "environment.resourceReservationNamespace=",
    "imagePullSecrets[0].name=mine",
    "imageRegistry=registry.example:5000/mirror",
]
PARTS = {
    "devicePlugin": "device-plugin",
    "statusUpdater": "status-updater",
    "topologyServer": "topology-server",
    "statusExporter": "nvidia-dcgm-exporter",
    "kwokGpuDevicePlugin": "kwok-gpu-device-plugin",
    "migFaker": "mig-faker",
}


FILES = {
    "slices as devices": {
        "topology": {
            "nodePools": {
                "mig": {
                    "gpuProduct": "NVIDIA A100-SXM4-40GB",
                    "gpuCount": 0,
                    "gpuMemory": 40960,
                    "otherDevices": [{"name": "nvidia.com/mig-1g.5gb", "count": 3}],
                }
            },
            "nodePoolLabelKey": "run.ai/simulated-gpu-node-pool",
            "migStrategy": "mixed",
        }
    },
    "pools by profile": {
        "topology": {
            "nodePools": {
                "train": {"gpu": {"backend": "fake", "profile": "h100", "overrides": {"a": 1}}},
                "cut": {"gpu": {"profile": "a100"}, "resources": [{"nvidia.com/mig-1g.5gb": 7}]},
            }
        },
        "customProfiles": {"my-gpu": {"device_count": 2}},
    },
    "a queue's own operator": {
        "environment": {"resourceReservationNamespace": "kai-resource-reservation"},
        "statusUpdater": {"disableNodeLabeling": True},
        "draPlugin": {"enabled": True},
    },
    "a registry of one's own": {
        "devicePlugin": {
            "image": {"repository": "registry.example:5000/fgo/device-plugin", "tag": "0.0.63"},
            "resources": {"limits": {"cpu": 1, "memory": "128Mi", "ephemeral-storage": "1Gi"}},
        },
        "imagePullSecrets": [{"name": "regcred"}],
    },
    "an old chart's": {"initialTopology": {"nodes": {"n": {"gpu-count": 16}}}},
}
"""Values as users of fake-gpu-operator write them."""


def template(*values: str, chart: Path = CHART) -> subprocess.CompletedProcess[str]:
    chosen = [word for value in values for word in ("--set", value)]
    return subprocess.run(
        [str(programs.helm()), "template", "gpu-operator", str(chart), *chosen],
        capture_output=True,
        text=True,
        check=False,
    )


def rendered(*values: str) -> list[Any]:
    done = template(*values)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def test_what_up_installs_is_what_helm_renders() -> None:
    spec = importlib.util.spec_from_file_location("render", ROOT / "charts" / "render.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    fresh = json.loads(json.dumps(module.render(str(programs.helm()))))
    packed = read_rendered()

    assert fresh["objects"] == [list(each) for each in packed.objects], "run charts/render.py"
    assert fresh["release"] == packed.release, "run charts/render.py"


@pytest.mark.parametrize(("value", "named"), WRONG.items(), ids=WRONG)
def test_a_wrong_value_is_refused_by_name(value: str, named: str) -> None:
    done = template(value)

    assert done.returncode != 0
    assert f"at '/{re.split(r'[.=[]', value)[0]}" in done.stderr
    assert named in done.stderr


@pytest.mark.parametrize("value", RIGHT)
def test_a_right_value_is_taken(value: str) -> None:
    assert rendered(value)


@pytest.mark.parametrize("values", FILES.values(), ids=FILES)
def test_values_that_users_have_are_taken(values: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    command = [str(programs.helm()), "template", "gpu-operator", str(CHART), "-f", str(file)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_images_come_from_ones_own_registry_with_ones_own_secret() -> None:
    for each in rendered("imageRegistry=registry.example/a", "imagePullSecrets[0].name=mine"):
        if each["kind"] in ("Deployment", "DaemonSet"):
            pod = each["spec"]["template"]["spec"]
            images = {container["image"].rsplit("/", 2)[0] for container in pod["containers"]}
            assert images in ({"registry.example/a/run-ai"}, {"ubuntu:22.04"})
            assert pod["imagePullSecrets"] == [{"name": "mine"}]


def notes(*values: str) -> str:
    chosen = [word for value in values for word in ("--set", value)]
    command = [str(programs.helm()), "install", "r", str(CHART), "--dry-run=client", *chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.rpartition("NOTES:\n")[2]


def test_the_notes_name_values_that_nobody_reads() -> None:
    told = notes("topolgy.x=1", "devicePlugin.enable=false", "runtimeClass.name=n", "global.a=b")

    assert "does not know them: devicePlugin.enable, runtimeClass.name, topolgy\n" in told
    assert "does not know them" not in notes()


def test_the_notes_know_what_the_schema_knows() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    text = (CHART / "templates" / "_keys.tpl").read_text()
    known = yaml.safe_load(text.partition('"windtunnel.keys" -}}')[2].partition("{{- end")[0])

    stated = {
        key: sorted(below.get("properties", {})) for key, below in schema["properties"].items()
    }
    assert known == stated | {"global": []}


def test_the_notes_say_what_offers_nothing_and_name_a_pool_there_is() -> None:
    told = notes("draPlugin.enabled=true", "topology.nodePools.default=null",
                 "topology.nodePools.h100.gpuCount=8")  # fmt: skip

    assert "draPlugin: its objects are made, but there is no program" in told
    assert "kubectl label node NODE run.ai/simulated-gpu-node-pool=h100" in told


def test_cuts_and_sharing_of_a_pool_come_into_the_document() -> None:
    pool = "topology.nodePools.default"
    shares = f"{pool}.sharing.timeSlicing.resources[0]"
    topology = next(
        each
        for each in rendered(
            f"{shares}.name=nvidia.com/gpu",
            f"{shares}.replicas=10",
            f"{pool}.mig[0].devices={{0,1}}",
            f"{pool}.mig[0].mig-enabled=true",
            f"{pool}.mig[0].mig-devices.1g\\.5gb=7",
            f"{pool}.migStrategy=single",
        )
        if each["metadata"]["name"] == "topology"
    )

    pools = parse_cluster_topology(topology["data"]["topology.yml"]).pools or {}

    found = pools["default"]
    assert found.sharing is not None
    assert found.sharing.replicas("nvidia.com/gpu") == 10
    assert found.mig == (MigEntry(devices=(0, 1), mig_devices={"1g.5gb": 7}),)
    assert found.mig_strategy == "single"


def test_a_chart_that_knew_less_is_upgraded_with_the_values_it_had(tmp_path: Path) -> None:
    """As helm does with --reuse-values: what was stored counts, what came later is missing."""
    whole = yaml.safe_load((CHART / "values.yaml").read_text())
    for section in SECTIONS:
        younger = tmp_path / f"without-{section}"
        shutil.copytree(CHART, younger)
        stored = {name: value for name, value in whole.items() if name != section}
        (younger / "values.yaml").write_text(yaml.safe_dump(stored))

        assert template(chart=younger).returncode == 0, section


@pytest.mark.parametrize("block", ["", "windtunnel: null\n", "windtunnel: {}\n"])
def test_a_chart_of_charts_need_not_say_anything_about_it(tmp_path: Path, block: str) -> None:
    parent = tmp_path / "parent"
    shutil.copytree(CHART, parent / "charts" / "windtunnel")
    (parent / "Chart.yaml").write_text("apiVersion: v2\nname: parent\nversion: 0.1.0\n")
    (parent / "values.yaml").write_text(block)

    done = template(chart=parent)

    assert done.returncode == 0, done.stderr
    kinds = [each["kind"] for each in yaml.safe_load_all(done.stdout) if each]
    assert sorted(kinds) == sorted(each["kind"] for each in rendered())


@pytest.mark.parametrize(
    "key", ["affinity", "apiServer", "compat", "customProfiles", "hostNetwork"]
)
def test_a_null_that_is_said_is_as_good_as_a_default_that_is_not(key: str) -> None:
    """Sections of parts are another thing: fake-gpu-operator skips those that are null."""
    assert rendered(f"{key}=null") == rendered()


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_may_be_null(section: str) -> None:
    assert rendered(f"{section}=null")


@pytest.mark.parametrize(("section", "name"), PARTS.items(), ids=PARTS)
def test_a_part_that_is_switched_off_leaves_nothing_behind(section: str, name: str) -> None:
    left = {each["metadata"]["name"] for each in rendered(f"{section}.enabled=false")}

    assert name not in left


def test_the_old_version_is_imitated_to_the_letter_where_it_is_asked_for() -> None:
    def role(*values: str) -> Any:
        (found,) = [
            each
            for each in rendered(*values)
            if (each["kind"], each["metadata"]["name"]) == ("ClusterRole", "fake-status-updater")
        ]
        return found

    ours, old = role(), role("compat=0.2")

    assert [rule for rule in ours["rules"] if rule not in old["rules"]] == [
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]}
    ]
    topology = next(
        each for each in rendered("compat=0.2") if each["metadata"]["name"] == "topology"
    )
    assert yaml.safe_load(topology["data"]["topology.yml"])["compat"] == "0.2"


def test_a_profile_of_the_users_takes_the_place_of_a_built_in_one() -> None:
    own = "customProfiles.h100.device_count=3"
    profiles = [e for e in rendered(own) if e["metadata"]["name"] == "gpu-profile-h100"]

    assert [yaml.safe_load(each["data"]["profile.yaml"]) for each in profiles] == [
        {"device_count": 3}
    ]


def test_a_node_whose_pods_cannot_reach_the_api_is_served() -> None:
    values = ("hostNetwork=true", "apiServer.host=127.0.0.1", "apiServer.port=6443")
    for each in rendered(*values):
        if each["kind"] in ("Deployment", "DaemonSet") and each["spec"].get("replicas") != 0:
            pod = each["spec"]["template"]["spec"]
            assert pod["hostNetwork"] is True
            told = {env["name"]: env.get("value") for env in pod["containers"][0]["env"]}
            assert told["KUBERNETES_SERVICE_HOST"] == "127.0.0.1"
            assert told["KUBERNETES_SERVICE_PORT"] == "6443"


def test_on_one_network_a_part_that_listens_frees_its_port_before_the_next_one_starts() -> None:
    values = ("hostNetwork=true", "topologyServer.port=8090", "statusExporter.kwok.port=9401")
    ports = {"topology-server": 8090, "nvidia-dcgm-exporter-kwok": 9401}
    for each in rendered(*values):
        port = ports.get(each["metadata"]["name"])
        if port and each["kind"] == "Service":
            assert each["spec"]["ports"][0]["targetPort"] == port
        if port and each["kind"] == "Deployment":
            rollout = each["spec"]["strategy"]["rollingUpdate"]
            assert rollout == {"maxSurge": 0, "maxUnavailable": 1}
            (container,) = each["spec"]["template"]["spec"]["containers"]
            assert container["ports"][0]["containerPort"] == port
            assert {"name": "WINDTUNNEL_LISTEN_PORT", "value": str(port)} in container["env"]
