"""Containers that really run, for tests: what they are made of, and running them."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from windtunnel.nodes.kubelet.runtime.engine import ContainerEngine
from windtunnel.nodes.kubelet.runtime.protocol import (
    ContainerOrder,
    ContainerRecord,
    ContainerState,
    Exec,
)

LOOP = ("sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done")


def make_order(log_path: Path, *argv: str, **fields: Any) -> ContainerOrder:
    """A busybox container that runs ``argv``."""
    order = ContainerOrder(
        pod_uid="u-1",
        pod_namespace="default",
        pod_name="a",
        name="main",
        attempt=0,
        image="busybox:1.36",
        command=argv or None,
        args=None,
        environment=(),
        working_dir="",
        mounts=(),
        devices=(),
        user=None,
        group=None,
        groups=(),
        privileged=False,
        read_only_root=False,
        tty=False,
        stdin=False,
        log_path=log_path,
        hostname="a",
        address="10.42.0.7",
        memory_limit_bytes=0,
        annotations=(),
        labels=(),
        init=False,
    )
    return replace(order, **fields)


def started(engine: ContainerEngine, log_path: Path, *argv: str, **fields: object) -> str:
    container_id = engine.create(make_order(log_path, *argv, **fields))
    engine.start(container_id)
    return container_id


def ended(engine: ContainerEngine, log_path: Path, *argv: str, **fields: object) -> ContainerRecord:
    """Run a container to its end."""
    over = threading.Event()
    stop = engine.listen(lambda record: record.state is ContainerState.EXITED and over.set())
    container_id = started(engine, log_path, *argv, **fields)
    assert over.wait(30)
    stop()
    record = engine.record(container_id)
    assert record is not None
    engine.remove(container_id)
    return record


def said(log_path: Path) -> str:
    return "\n".join(line.split(" ", 3)[3] for line in log_path.read_text().splitlines())


def heard(run: Exec) -> bytes:
    """All that a program puts out on its terminal, to its end."""
    return b"".join(iter(partial(run.stdout.read, 1000), b""))


def up(engine: ContainerEngine, log_path: Path, **fields: object) -> str:
    """A container that runs until it is told to end, its trap set."""
    container_id = engine.create(make_order(log_path, *LOOP, stdin=True, **fields))
    engine.start(container_id)
    attached = engine.attach(container_id)
    if "up" not in log_path.read_text():
        assert attached.stdout.read(3) == b"up\n"
    attached.close()
    return container_id
