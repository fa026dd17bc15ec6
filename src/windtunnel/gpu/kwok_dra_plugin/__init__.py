"""Who stands for the DRA plugin on played nodes: the slices of devices that it would publish."""

from windtunnel.gpu.kwok_dra_plugin.plugin import COMPONENT, KwokDraPlugin
from windtunnel.gpu.kwok_dra_plugin.settings import Settings, read_settings

__all__ = ["COMPONENT", "KwokDraPlugin", "Settings", "read_settings"]
