"""The topology server: documents of GPUs over plain HTTP, read from the API for each request."""

from __future__ import annotations

import threading

from windtunnel.client import Client
from windtunnel.errors import ClusterError
from windtunnel.gpu.http_server import HttpReply, HttpServer
from windtunnel.gpu.topology_server.answers import answer
from windtunnel.gpu.topology_server.settings import Settings
from windtunnel.machinery.errors import ApiError
from windtunnel.machinery.tree import Key, Tree


def topology_server(client: Client, settings: Settings) -> HttpServer:
    """Return what serves them; its threads, which share the client, take turns."""
    turn = threading.Lock()

    def read(name: str) -> Tree | None:
        return client.get("configmaps", Key(settings.topology_namespace, name))

    def reply(path: str) -> HttpReply:
        try:
            with turn:
                return answer(path, settings.topology_name, read)
        except ApiError as error:
            return HttpReply(500, error.message.encode())
        except ClusterError as error:
            return HttpReply(500, str(error).encode())

    return HttpServer(settings.host, settings.port, reply)
