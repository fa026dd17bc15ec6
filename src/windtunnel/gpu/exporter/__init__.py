"""The exporter: what topologies say, as metrics, node labels, host files and zones.

One part serves both forms of the original: for the node it runs on, or for all nodes that are
played. It never writes a topology.
"""

from windtunnel.gpu.exporter.exporter import Exporter
from windtunnel.gpu.exporter.settings import read_settings

__all__ = ["Exporter", "read_settings"]
