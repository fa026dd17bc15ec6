"""Where HTTP begins and ends: the only asynchronous code of the API server.

A request is: await the body, one synchronous call into the core, await the durable mark, send. All
of it runs on the one thread that decides, between steps of the loop.
"""

from windtunnel.apiserver.edge.asks import Asks
from windtunnel.apiserver.edge.server import Certificates, Server

__all__ = ["Asks", "Certificates", "Server"]
