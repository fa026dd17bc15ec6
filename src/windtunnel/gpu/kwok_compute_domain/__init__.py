"""Who stands for the compute-domain plugin on played nodes: one channel each."""

from windtunnel.gpu.kwok_compute_domain.plugin import COMPONENT, KwokComputeDomain
from windtunnel.gpu.kwok_compute_domain.settings import check

__all__ = ["COMPONENT", "KwokComputeDomain", "check"]
