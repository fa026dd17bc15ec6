"""Rules of placement, one a file: pure, independent of each other, asked over fleet views.

Scheduler, queues, explain and audit ask the same code. A rule judges all nodes at once; its words
and codes are kube-scheduler's (v1.36).
"""

from windtunnel.placement.balanced_allocation import BalancedAllocation
from windtunnel.placement.dynamic_resources import DynamicResources
from windtunnel.placement.image_locality import ImageLocality
from windtunnel.placement.inter_pod_affinity import InterPodAffinity
from windtunnel.placement.judgement import Judgement, Refusal
from windtunnel.placement.node_affinity import NodeAffinity
from windtunnel.placement.node_name import NodeName
from windtunnel.placement.node_ports import NodePorts
from windtunnel.placement.node_unschedulable import NodeUnschedulable
from windtunnel.placement.resource_fit import ResourceFit, Strategy
from windtunnel.placement.taint_toleration import TaintToleration
from windtunnel.placement.topology_spread import TopologySpread

__all__ = [
    "BalancedAllocation",
    "DynamicResources",
    "ImageLocality",
    "InterPodAffinity",
    "Judgement",
    "NodeAffinity",
    "NodeName",
    "NodePorts",
    "NodeUnschedulable",
    "Refusal",
    "ResourceFit",
    "Strategy",
    "TaintToleration",
    "TopologySpread",
]
