"""Who looks after compute domains: the template of their claims, and which nodes have joined."""

from windtunnel.gpu.compute_domains.controller import COMPONENT, ComputeDomains

__all__ = ["COMPONENT", "ComputeDomains"]
