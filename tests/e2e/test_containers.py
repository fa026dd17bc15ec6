"""Containers as users of a fake GPU cluster run them, through the real kubectl."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Home, Kubectl

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


def pod(name: str, **spec: Any) -> str:
    container = {"name": "main", **spec.pop("container")}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": name}},
            "spec": {"restartPolicy": "Never", "containers": [container], **spec},
        }
    )


def test_the_commonest_pod_of_fake_gpus_runs_to_its_end(
    up: Callable[..., Home], kubectl: Kubectl
) -> None:
    up("--ephemeral", kubelet=True)
    gpu = {
        "image": "nvidia/cuda:12.3.1-base-ubuntu20.04",
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    kubectl("apply", "-f", "-", stdin=pod("named", container=gpu | {"command": ["nvidia-smi"]}))
    kubectl("apply", "-f", "-", stdin=pod("given", container=gpu | {"args": ["nvidia-smi"]}))

    for name in ("named", "given"):
        kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", f"pod/{name}")
        assert "Tesla-K80" in kubectl("logs", name)


def test_services_have_names_and_terminals_too(
    up: Callable[..., Home], kubectl: Kubectl, real_kubectl: Path, home: Home
) -> None:
    up("--ephemeral", "--no-operator", kubelet=True)
    idle = {"image": "busybox:1.36", "command": ["sleep", "600"]}
    kubectl("apply", "-f", "-", stdin=pod("early", container=idle))
    kubectl("wait", "--for=condition=Ready", "pod/early")
    script = "mkdir /w; echo it is me > /w/index.html; exec httpd -f -h /w -p 127.${A#10.}:$P"
    address = {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    web = {
        "image": "busybox:1.36",
        "command": ["sh", "-c", script],
        "env": [address, {"name": "P", "value": "18080"}],
    }
    kubectl(
        *("apply", "-f", "-"),
        stdin=pod("web-0", container=web, hostname="web-0", subdomain="behind"),
    )
    kubectl("expose", "pod", "web-0", "--name=web", "--port=18081", "--target-port=18080")
    kubectl("expose", "pod", "web-0", "--name=behind", "--port=18080", "--cluster-ip=None")
    kubectl("wait", "--for=condition=Ready", "pod/web-0")

    for place in (
        *("web:18081", "web.default:18081", "web.default.svc.cluster.local:18081"),
        *("web-0.behind:18080", "web-0.behind.default.svc.cluster.local:18080", "behind:18080"),
    ):
        # A name takes a moment to be known.
        patient = f"for i in $(seq 99); do wget -q -O- http://{place}/ && exit; sleep 0.1; done"
        assert kubectl("exec", "early", "--", "sh", "-c", patient) == "it is me\n"

    # ``script`` gives kubectl the terminal that it asks for.
    typed = f"{real_kubectl} exec -it early -- tty"
    done = subprocess.run(
        ["script", "-qec", typed, "/dev/null"],
        env=home.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert re.search(r"/dev/pts/\d+", done.stdout)
