"""Asking the health service of gRPC, as a server of protobuf's own messages answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from windtunnel.nodes.kubelet.probes.asking import ask_grpc

SHOWN, SERVED = "10.42.0.9", "127.42.0.9"
LONG = "s" * 300


def message(name: str, field: str, kind: int) -> Any:
    """Return the class of a message with one field, made by protobuf itself."""
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{name}.proto", package="health", syntax="proto3"
    )
    file.message_type.add(name=name).field.add(name=field, number=1, type=kind, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"health.{name}"))


REQUEST = message("HealthCheckRequest", "service", descriptor_pb2.FieldDescriptorProto.TYPE_STRING)
RESPONSE = message("HealthCheckResponse", "status", descriptor_pb2.FieldDescriptorProto.TYPE_INT32)
STATES = {"": 1, "mine": 1, LONG: 1, "unknown": 0, "ill": 2, "gone": 3, "odd": 7}


class Health:
    """What the server says of each service, and who has asked."""

    def __init__(self) -> None:
        self.agents: list[str] = []

    def check(self, request: Any, context: grpc.ServicerContext) -> Any:
        metadata = dict(context.invocation_metadata())
        self.agents.append(str(metadata["user-agent"]))
        if request.service == "slow":
            over = threading.Event()
            context.add_callback(over.set)
            over.wait()  # until nobody waits any more
        if request.service not in STATES:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return RESPONSE(status=STATES[request.service])


@pytest.fixture
def health() -> Health:
    return Health()


def serving(service: str, method: Any) -> Iterator[int]:
    handler = grpc.unary_unary_rpc_method_handler(
        method, REQUEST.FromString, RESPONSE.SerializeToString
    )
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service, {"Check": handler}),)
    )
    port = server.add_insecure_port(f"{SERVED}:0")
    server.start()
    yield port
    server.stop(None).wait()


@pytest.fixture
def port(health: Health) -> Iterator[int]:
    yield from serving("grpc.health.v1.Health", health.check)


@pytest.fixture
def other_port(health: Health) -> Iterator[int]:
    yield from serving("some.Other", health.check)


@pytest.mark.parametrize("service", ["", "mine", LONG])
def test_a_service_that_serves_is_healthy(port: int, health: Health, service: str) -> None:
    reply = ask_grpc(SHOWN, port, service, 10)

    assert (reply.healthy, reply.text) == (True, "service healthy")
    assert health.agents[0].startswith("kube-probe/1.36 ")


@pytest.mark.parametrize(
    ("service", "words"),
    [
        ("ill", 'service unhealthy (responded with "NOT_SERVING")'),
        ("unknown", 'service unhealthy (responded with "UNKNOWN")'),
        ("gone", 'service unhealthy (responded with "SERVICE_UNKNOWN")'),
        ("odd", 'service unhealthy (responded with "7")'),
        (
            "nobody",
            "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service",
        ),
    ],
)
def test_any_other_answer_is_told(port: int, service: str, words: str) -> None:
    reply = ask_grpc(SHOWN, port, service, 10)

    assert (reply.healthy, reply.text) == (False, words)


def test_a_server_without_the_health_service_is_told(other_port: int) -> None:
    reply = ask_grpc(SHOWN, other_port, "", 10)

    assert not reply.healthy
    assert reply.text.startswith(
        "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): "
    )


def test_an_answer_that_does_not_come_is_told_with_the_limit(port: int) -> None:
    reply = ask_grpc(SHOWN, port, "slow", 0.5)

    assert reply.text == "timeout: health rpc did not complete within 500ms"


def test_nobody_there_is_told_with_the_limit() -> None:
    with closing(socket.create_server((SERVED, 0))) as listener:
        number = listener.getsockname()[1]

    reply = ask_grpc(SHOWN, number, "", 0.25)

    assert reply.text == (
        f'timeout: failed to connect service "{SHOWN}:{number}" within 250ms: '
        "context deadline exceeded"
    )
