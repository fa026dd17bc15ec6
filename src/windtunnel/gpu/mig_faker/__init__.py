"""Who cuts fake GPUs into slices: what a node's annotation asks for becomes a mapping."""

from windtunnel.gpu.mig_faker.faker import COMPONENT, MigFaker
from windtunnel.gpu.mig_faker.settings import Settings, read_settings

__all__ = ["COMPONENT", "MigFaker", "Settings", "read_settings"]
