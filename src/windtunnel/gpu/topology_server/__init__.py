"""Who answers ``nvidia-smi``: the documents of GPUs over HTTP, in the original's JSON."""

from windtunnel.gpu.topology_server.server import topology_server
from windtunnel.gpu.topology_server.settings import Settings, read_settings

__all__ = ["Settings", "read_settings", "topology_server"]
