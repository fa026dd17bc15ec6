"""Who fakes the hardware: the numbers and labels by which Kubernetes knows GPUs."""

from windtunnel.gpu.capacity import GpuCapacity

__all__ = ["GpuCapacity"]
