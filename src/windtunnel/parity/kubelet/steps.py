"""Plays the steps of a scenario, one after the other, on a node of its own."""

from __future__ import annotations

import base64
import json
import subprocess
import threading
from collections.abc import Callable
from typing import Any, Final

import grpc

from windtunnel.machinery.tree import Key, Tree, decode
from windtunnel.nodes.kubelet.devices import checkpoint
from windtunnel.parity.kubelet import looks
from windtunnel.parity.kubelet.plugin import ScriptedPlugin
from windtunnel.parity.kubelet.recording import NAMESPACE, Recording
from windtunnel.parity.kubelet.site import BUSYBOX, SHOWN_BUSYBOX, Site
from windtunnel.wire import deviceplugin_pb2, podresources_pb2, podresources_pb2_grpc

_PATIENCE_SECONDS: Final = 60.0
_KUBECTL_SECONDS: Final = 90.0


class Performer:
    """One scenario being played."""

    def __init__(self, site: Site, recording: Recording, kubectl: str) -> None:
        self._site, self._recording, self._program = site, recording, kubectl
        self._plugins: dict[str, ScriptedPlugin] = {}
        self._resources: set[str] = set()

    def play(self, script: list[Tree], skipped: int = 0) -> None:
        """Play every step but the first few, in the order and at the pace of the script."""
        for number, step in enumerate(script[skipped:], skipped + 1):
            self._recording.step = number
            play: Callable[[Tree], None] = getattr(self, f"_play_{step['op']}")
            play(_with_our_image(step))
            if settle := step.get("settle"):
                threading.Event().wait(settle)

    def close(self) -> None:
        """Stop the plugins."""
        for plugin in self._plugins.values():
            plugin.stop()

    def _play_create_pod(self, step: Tree) -> None:
        self._site.client.create("pods", _placed(step["pod"]))

    def _play_create(self, step: Tree) -> None:
        path = step["path"].replace("/NS/", f"/{NAMESPACE}/")
        self._site.client.ask("POST", path, json.dumps(step["object"]).encode())

    def _play_delete_pod(self, step: Tree) -> None:
        key = Key(NAMESPACE, step["pod"])
        self._site.client.delete("pods", key, grace_seconds=step.get("grace"))

    def _play_patch_pod(self, step: Tree) -> None:
        key = Key(NAMESPACE, step["pod"])
        self._site.client.patch(
            "pods",
            key,
            step["patch"],
            subresource=step.get("subresource") or "",
            strategic=step.get("kind", "strategic") == "strategic",
        )

    def _play_wait(self, step: Tree) -> None:
        seen = self._recording

        def true() -> bool:
            if "pod" in step:
                return looks.pod_is(seen.pods.get(step["pod"]), step["until"])
            if "event" in step:
                return any(looks.event_is(event, step["event"]) for event in seen.events)
            return looks.node_is(seen.node, step["node"])

        seen.until(true, step.get("timeout") or _PATIENCE_SECONDS)

    def _play_sleep(self, step: Tree) -> None:
        threading.Event().wait(step["s"])

    def _run_kubectl(self, arguments: list[str], stdin: str | None) -> Tree:
        done = subprocess.run(
            [self._program, "-n", NAMESPACE, *arguments],
            input=None if stdin is None else stdin.encode(),
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            cwd=self._site.scratch,
            env={"KUBECONFIG": str(self._site.kubeconfig), "HOME": str(self._site.scratch),
                 "PATH": "/usr/bin:/bin"},
            timeout=_KUBECTL_SECONDS,
            check=False,
        )  # fmt: skip
        return {
            "exitCode": done.returncode,
            "stdout": done.stdout.decode(errors="replace"),
            "stderr": done.stderr.decode(errors="replace"),
        }

    def _play_kubectl(self, step: Tree) -> None:
        self._recording.answer(self._run_kubectl(step["args"], step.get("stdin")))

    def _play_plugin_start(self, step: Tree) -> None:
        name = step["plugin"]
        if name in self._plugins:
            self._plugins.pop(name).stop()
        plugin = ScriptedPlugin(
            self._site.device_plugins,
            step,
            lambda entry: self._recording.tell(f"plugin:{name}", entry),
        )
        self._plugins[name] = plugin
        self._resources.add(plugin.resource)
        plugin.serve()
        if step.get("register", True):
            self._recording.answer(plugin.register())

    def _play_plugin_register(self, step: Tree) -> None:
        plugin = self._plugins[step["plugin"]]
        resource = step.get("register_resource")
        self._recording.answer(
            plugin.register(
                version=step.get("version", "v1beta1"),
                endpoint=step.get("register_endpoint") or "",
                resource=None if resource is None else resource.removeprefix("!"),
            )
        )

    def _play_plugin_devices(self, step: Tree) -> None:
        self._plugins[step["plugin"]].list_devices(step["devices"])

    def _play_plugin_behaviour(self, step: Tree) -> None:
        self._plugins[step["plugin"]].behave(step["set"])

    def _play_plugin_stop(self, step: Tree) -> None:
        self._plugins[step["plugin"]].stop()

    def _play_plugin_end_stream(self, step: Tree) -> None:
        self._plugins[step["plugin"]].end_stream()

    def _play_remove_socket(self, step: Tree) -> None:
        self._plugins[step["plugin"]].remove_socket()

    def _play_list_sockets(self, step: Tree) -> None:
        names = sorted(path.name for path in self._site.device_plugins.iterdir())
        self._recording.answer({"files": names})

    def _play_podresources(self, step: Tree) -> None:
        call = step["call"]
        self._recording.answer({call: self._ask_pod_resources(call, step.get("pod", ""))})

    def _play_cri(self, step: Tree) -> None:
        order = self._site.order(step["pod"], step["container"])
        if order is not None:
            self._recording.answer(
                {
                    "annotations": dict(order.annotations),
                    "labels": dict(order.labels),
                    "mounts": sorted({mount.container_path for mount in order.mounts}),
                }
            )

    def _play_checkpoint(self, step: Tree) -> None:
        text = (self._site.device_plugins / checkpoint.NAME).read_bytes()
        self._recording.answer(
            {"checkpoint": shown_checkpoint(decode(text)["Data"], self._recording.uids)}
        )

    def _play_metrics(self, step: Tree) -> None:
        self._recording.answer({"metrics": self._site.metrics(self._resources)})

    def _play_kubelet_stop(self, step: Tree) -> None:
        self._site.node.stop()

    def _play_kubelet_start(self, step: Tree) -> None:
        self._site.node.start(step.get("config") or {}, step.get("numa_nodes"))

    def _play_kubelet_restart(self, step: Tree) -> None:
        self._play_kubelet_stop(step)
        self._play_kubelet_start(step)

    def _play_original_device_plugin(self, step: Tree) -> None:
        self._resources |= {"nvidia.com/gpu"}
        self._site.start_own_plugin(step["topology"])

    def _play_original_device_plugin_kill(self, step: Tree) -> None:
        if self._site.own_plugin is not None:
            self._site.own_plugin.stop()

    def _play_original_device_plugin_state(self, step: Tree) -> None:
        self._recording.answer(
            {"alive": self._site.own_plugin is not None and self._site.own_plugin.alive}
        )

    def _ask_pod_resources(self, call: str, pod: str) -> Any:
        requests = {
            "List": podresources_pb2.ListPodResourcesRequest(),
            "Get": podresources_pb2.GetPodResourcesRequest(pod_name=pod, pod_namespace=NAMESPACE),
            "GetAllocatableResources": podresources_pb2.AllocatableResourcesRequest(),
        }
        target = f"unix:{self._site.pod_resources / 'kubelet.sock'}"
        with grpc.insecure_channel(target) as channel:
            stub = podresources_pb2_grpc.PodResourcesListerStub(channel)
            try:
                answer = getattr(stub, call)(requests[call], timeout=10, wait_for_ready=True)
            except grpc.RpcError as error:
                return {"error": error.code().name, "details": error.details()}
        if call == "List":
            return [_shown_pod(one) for one in answer.pod_resources]
        if call == "Get":
            return _shown_pod(answer.pod_resources)
        return {
            "devices": _shown_devices(answer.devices),
            "cpu_ids": list(answer.cpu_ids),
            "memory_blocks": len(answer.memory),
        }


def _shown_pod(pod: podresources_pb2.PodResources) -> Tree:
    return {
        "name": pod.name,
        "namespace": pod.namespace,
        "containers": [
            {
                "name": one.name,
                "devices": _shown_devices(one.devices),
                "cpu_ids": list(one.cpu_ids),
                "memory": len(one.memory),
                "dynamic_resources": len(one.dynamic_resources),
            }
            for one in pod.containers
        ],
    }


def _shown_devices(devices: Any) -> list[Tree]:
    return [
        {
            "resource": one.resource_name,
            "ids": list(one.device_ids),
            "numa": [node.ID for node in one.topology.nodes] if one.HasField("topology") else None,
        }
        for one in devices
    ]


def shown_checkpoint(contents: Tree, names: dict[str, str]) -> Tree:
    """Return a checkpoint as recordings show it: pods by name, answers decoded."""
    entries = []
    for entry in contents.get("PodDeviceEntries") or ():
        shown = {name: value for name, value in entry.items() if name != "PodUID"}
        answer = deviceplugin_pb2.ContainerAllocateResponse.FromString(
            base64.b64decode(entry["AllocResp"])
        )
        shown["AllocResp"] = _shown_answer(answer)
        entries.append({"pod": names.get(entry["PodUID"], entry["PodUID"]), **shown})
    return {
        "PodDeviceEntries": entries,
        "RegisteredDevices": contents.get("RegisteredDevices") or {},
    }


def _shown_answer(answer: deviceplugin_pb2.ContainerAllocateResponse) -> Tree:
    def fields(message: Any) -> Tree:
        return {field.name: value for field, value in message.ListFields()}

    shown = {
        "envs": dict(answer.envs),
        "mounts": [fields(one) for one in answer.mounts],
        "devices": [fields(one) for one in answer.devices],
        "annotations": dict(answer.annotations),
        "cdi_devices": [fields(one) for one in answer.cdi_devices],
    }
    return {name: value for name, value in shown.items() if value}


def _placed(pod: Tree) -> Tree:
    return {**pod, "metadata": {**pod["metadata"], "namespace": NAMESPACE}}


def _with_our_image(step: Tree) -> Tree:
    """Name the image that stands for the recording's, and say that this is its first run."""
    text = json.dumps(step).replace(f'"{SHOWN_BUSYBOX}"', f'"{BUSYBOX}"').replace(':RUN"', ':1"')
    replaced: Tree = json.loads(text)
    return replaced
