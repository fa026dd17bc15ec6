"""Who stands for the device plugin on played nodes: the capacity that a kubelet would report.

``KwokDevicePlugin`` follows the documents of nodes, as a part of the operator; ``PoolCapacity``
follows the documents of pools, where there is no operator to write those of nodes.
"""

from windtunnel.gpu.kwok_device_plugin.from_pools import PoolCapacity
from windtunnel.gpu.kwok_device_plugin.plugin import COMPONENT, KwokDevicePlugin
from windtunnel.gpu.kwok_device_plugin.settings import Settings, read_settings

__all__ = ["COMPONENT", "KwokDevicePlugin", "PoolCapacity", "Settings", "read_settings"]
