"""Who answers ``nvidia-smi``: the documents of GPUs over HTTP, in the original's JSON."""

from windtunnel.gpu.topology_server.server import TopologyServer
from windtunnel.gpu.topology_server.settings import Settings, read_settings

__all__ = ["Settings", "TopologyServer", "read_settings"]
