"""Who fakes the hardware: the numbers and labels by which Kubernetes knows GPUs.

Each part has a folder of its own, and is imported by it: an agent pays for one of them.
"""
