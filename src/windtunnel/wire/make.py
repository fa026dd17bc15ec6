"""Generate the message and service modules from the ``.proto`` files beside this one.

``python -m windtunnel.wire.make`` needs grpcio-tools (a development dependency). grpc's own
generator writes no types for services; they are written here, from the compiled descriptors.
"""

from __future__ import annotations

import importlib.resources
import sys
import tempfile
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)

HERE = Path(__file__).parent
SOURCE_ROOT = HERE.parents[1]


UNTYPED_MAPPINGS = '# mypy: disable-error-code="type-arg"\n'
"""The compiler's own type stubs name ``Mapping`` without its arguments."""


def main(target: Path = SOURCE_ROOT) -> int:
    """Write every generated file below ``target``; returns the compiler's exit status."""
    from grpc_tools import protoc  # type: ignore[import-untyped]  # it has no types

    well_known = str(importlib.resources.files("grpc_tools") / "_proto")
    names = [str(path.relative_to(SOURCE_ROOT)) for path in sorted(HERE.glob("*.proto"))]
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder, "all")
        status: int = protoc.main(
            [
                "protoc", f"-I{SOURCE_ROOT}", f"-I{well_known}", f"--descriptor_set_out={compiled}",
                f"--python_out={target}", f"--pyi_out={target}", f"--grpc_python_out={target}",
                *names,
            ]
        )  # fmt: skip
        if status == 0:
            for file in FileDescriptorSet.FromString(compiled.read_bytes()).file:
                stem = file.name.removesuffix(".proto")
                messages = target / f"{stem}_pb2.pyi"
                messages.write_text(UNTYPED_MAPPINGS + messages.read_text())
                (target / f"{stem}_pb2_grpc.pyi").write_text(service_types(file))
    return status


def service_types(file: FileDescriptorProto) -> str:
    """Return the type stub of the services in one file."""
    module = Path(file.name).stem + "_pb2"
    lines = [
        "from collections.abc import Iterator",
        "",
        "import grpc",
        "",
        f"from windtunnel.wire import {module} as pb",
    ]
    for service in file.service:
        lines += [
            "",
            f"class {service.name}Stub:",
            "    def __init__(self, channel: grpc.Channel) -> None: ...",
        ]
        for method in service.method:
            asks, answers = _types(method)
            shape = "UnaryStream" if method.server_streaming else "UnaryUnary"
            lines.append(f"    {method.name}: grpc.{shape}MultiCallable[{asks}, {answers}]")
        lines += ["", f"class {service.name}Servicer:"]
        for method in service.method:
            asks, answers = _types(method)
            gives = f"Iterator[{answers}]" if method.server_streaming else answers
            lines += [
                f"    def {method.name}(",
                f"        self, request: {asks}, context: grpc.ServicerContext",
                f"    ) -> {gives}: ...",
            ]
        lines += [
            "",
            f"def add_{service.name}Servicer_to_server(",
            f"    servicer: {service.name}Servicer, server: grpc.Server",
            ") -> None: ...",
        ]
    return "\n".join(lines) + "\n"


def _types(method: MethodDescriptorProto) -> tuple[str, str]:
    asks, answers = method.input_type, method.output_type
    return f"pb.{asks.rpartition('.')[2]}", f"pb.{answers.rpartition('.')[2]}"


if __name__ == "__main__":
    sys.exit(main())
