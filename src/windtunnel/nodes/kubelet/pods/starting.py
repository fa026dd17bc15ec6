"""Starting one container: its image, its devices, its environment, its program, its hook."""

from __future__ import annotations

from windtunnel.machinery.tree import Tree, dig
from windtunnel.nodes.kubelet.environment import ConfigurationMissing, environment
from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.outside import Course, Inquiry
from windtunnel.nodes.kubelet.pod_spec import full_name, uid_of
from windtunnel.nodes.kubelet.pods.failures import StartRefused
from windtunnel.nodes.kubelet.pods.hooks import HookFailed, run_hook
from windtunnel.nodes.kubelet.pods.images import ImageProvider
from windtunnel.nodes.kubelet.pods.order import Furnishing, order_of
from windtunnel.nodes.kubelet.pods.stopping import stop_container
from windtunnel.nodes.kubelet.runtime.images import remark
from windtunnel.nodes.kubelet.runtime.protocol import ContainerOrder, CreateFailed, StartFailed


def start_container(
    ground: Ground, images: ImageProvider, pod: Tree, container: Tree, attempt: int, address: str
) -> Course[None]:
    """Start a container, to the end of its postStart hook.

    Raises:
        StartRefused: it does not run.
    """
    runtime, events, name = ground.runtime, ground.events, container["name"]
    yield from images.provide(pod, container)
    order = yield from _order(ground, pod, container, attempt, address)
    try:
        made: str = yield lambda: runtime.create(order)
    except CreateFailed as failed:
        events.warning(pod, "Failed", f"Error: {failed}", name)
        raise StartRefused("CreateContainerError", str(failed)) from None
    events.normal(pod, "Created", "Container created", name)
    try:
        yield lambda: runtime.start(made)
    except StartFailed as failed:
        events.warning(pod, "Failed", f"Error: {failed}", name)
        raise StartRefused("RunContainerError", str(failed)) from None
    events.normal(pod, "Started", "Container started", name)
    record = runtime.record(made)
    if record is not None and (said := remark(record)) is not None:
        tell = events.warning if said.warning else events.normal
        tell(pod, "ImageIsNameOnly", said.words, name)
    hook = dig(container, "lifecycle", "postStart")
    if hook is None:
        return
    try:
        yield from run_hook(ground, pod, container, made, hook, 0)
    except HookFailed as failed:
        events.warning(pod, "FailedPostStartHook", "PostStartHook failed", name)
        if record is not None:
            yield from stop_container(ground, pod, record, "FailedPostStartHook")
        raise StartRefused("PostStartHookError", str(failed)) from None


def _order(
    ground: Ground, pod: Tree, container: Tree, attempt: int, address: str
) -> Course[ContainerOrder]:
    """Return the order for the container.

    Raises:
        StartRefused: something that it needs is not there.
    """
    name, events = container["name"], ground.events
    trouble: str | None = _runs_as_root(pod, container)
    if trouble is None:
        trouble = yield Inquiry(lambda then: ground.devices.prepare(pod, name, then))
    if trouble is None:
        try:
            own = environment(pod, container, ground.lookup(pod, address))
            options = ground.devices.run_options(uid_of(pod), name)
            files = yield lambda: ground.files.provide(pod, container, attempt, address)
            mounts = yield lambda: ground.volumes.mounts(pod, container)
        except (ConfigurationMissing, OSError, ValueError) as missing:
            trouble = str(missing)
        else:
            furnishing = Furnishing(
                environment={**dict(options.envs), **own},
                mounts=[*ground.volumes.of_node(options.mounts), *mounts, *files],
                devices=options.devices,
                annotations=options.annotations,
                log_path=ground.log_path(pod, name, attempt),
                address=address,
            )
            return order_of(pod, container, attempt, furnishing)
    events.warning(pod, "Failed", f"Error: {trouble}", name)
    raise StartRefused("CreateContainerConfigError", trouble)


def _runs_as_root(pod: Tree, container: Tree) -> str | None:
    """Say what is wrong where a container must not run as root and would."""
    own = container.get("securityContext") or {}
    whole = pod["spec"].get("securityContext") or {}
    if not own.get("runAsNonRoot", whole.get("runAsNonRoot")):
        return None
    user = own.get("runAsUser", whole.get("runAsUser"))
    place = f'(pod: "{full_name(pod)}", container: {container["name"]})'
    if user is None:
        return f"container has runAsNonRoot and image will run as root {place}"
    if int(user) == 0:
        return f"container's runAsUser breaks non-root policy {place}"
    return None
