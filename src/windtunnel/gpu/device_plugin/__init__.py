"""The device plugin: the GPUs of one node's topology, offered to its kubelet.

Speaks v1beta1 over real sockets, so it is the same program beside our kubelet and any other.
"""

from windtunnel.gpu.device_plugin.plugin import DevicePlugin
from windtunnel.gpu.device_plugin.settings import read_settings

__all__ = ["DevicePlugin", "read_settings"]
