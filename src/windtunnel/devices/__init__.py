"""What GPUs are: the catalogue of models, the document that describes a pool, the account of them.

Nouns and pure functions only; who writes them to a cluster lives in ``gpu`` and ``nodes``.
"""

from windtunnel.devices.catalogue import GPU, GpuModel, find_model, models
from windtunnel.devices.ledger import Ledger, NodeAccount, limit_of, take_ledger
from windtunnel.devices.pools import (
    PLAYED,
    POOL_LABEL,
    POOL_NAMESPACE,
    GpuPool,
    config_map_name,
    is_pool_config_map,
    parse_pools,
    pool_document,
    pool_of,
)

__all__ = [
    "GPU",
    "PLAYED",
    "POOL_LABEL",
    "POOL_NAMESPACE",
    "GpuModel",
    "GpuPool",
    "Ledger",
    "NodeAccount",
    "config_map_name",
    "find_model",
    "is_pool_config_map",
    "limit_of",
    "models",
    "parse_pools",
    "pool_document",
    "pool_of",
    "take_ledger",
]
