"""The door for device plugins: checks who registers, dials back, asks for options.

All of it happens on the server's own threads before the plugin has its answer, as in a real
kubelet; what comes of it is handed over in one call.

Source: kubelet v1.36; every error has the code UNKNOWN, texts are exact.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import grpc

from windtunnel.kinds.rules.resource_names import is_extended
from windtunnel.nodes.kubelet.devices.link import PluginFailed, PluginLink, PluginOptions
from windtunnel.wire import deviceplugin_pb2 as pb
from windtunnel.wire import deviceplugin_pb2_grpc as services

VERSION: Final = "v1beta1"

Registered = Callable[[str, PluginLink, PluginOptions], None]
"""Told of the resource, the line to its plugin, and what the plugin wants to be asked."""


class Registration(services.RegistrationServicer):
    """Serves ``v1beta1.Registration``."""

    def __init__(self, folder: Path, counted: Callable[[str], None], then: Registered) -> None:
        """Take registrations of plugins whose sockets are in ``folder``.

        Args:
            folder: Where they are.
            counted: Told of each resource that somebody tries to register.
            then: Told of those that got through; called on any thread.
        """
        self._folder, self._counted, self._then = folder, counted, then

    def Register(  # noqa: N802  # the protocol's name
        self, request: pb.RegisterRequest, context: grpc.ServicerContext
    ) -> pb.Empty:
        """Let a plugin in, or say why not."""
        self._counted(request.resource_name)
        refusal = judge(request.version, request.resource_name)
        if refusal:
            context.abort(grpc.StatusCode.UNKNOWN, refusal)
        link = PluginLink(self._folder / request.endpoint)
        try:
            link.dial()
            options = link.options()
        except PluginFailed as error:
            link.close()
            context.abort(grpc.StatusCode.UNKNOWN, str(error))
            raise  # abort never returns
        self._then(request.resource_name, link, options)
        return pb.Empty()


def judge(version: str, resource: str) -> str:
    """Return why such a plugin may not register, "" if it may."""
    if version != VERSION:
        return (
            f"requested API version {json.dumps(version)} is not supported by kubelet. "
            f'Supported version is ["{VERSION}"]'
        )
    if not is_extended(resource):
        return f"the ResourceName {json.dumps(resource)} is invalid"
    return ""
