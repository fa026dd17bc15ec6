"""Who keeps the documents of GPUs: one for each node of a pool, as its pods come and go."""

from windtunnel.gpu.status_updater.settings import Settings, read_settings
from windtunnel.gpu.status_updater.status_updater import COMPONENT, StatusUpdater

__all__ = ["COMPONENT", "Settings", "StatusUpdater", "read_settings"]
