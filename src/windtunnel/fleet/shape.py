"""The shape of a pod: what it demands, shared by all pods that demand the same.

Shapes are interned and compared by identity, so that verdicts, scores and counts can be kept by
shape. Everything in it is worked out when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from windtunnel.fleet.node_terms import NodeChoice, NodeTerm, node_term, node_terms
from windtunnel.fleet.pod_terms import (
    AffinityTerm,
    SpreadConstraint,
    affinity_term,
    spread_constraint,
)
from windtunnel.fleet.pod_wire import ContainerHold, Demand
from windtunnel.fleet.requests import ASSUMED, Whole, assumed_for, demanded
from windtunnel.fleet.taints import Tolerations
from windtunnel.kinds.pod.requests import Amounts
from windtunnel.machinery.selectors import Requirement
from windtunnel.machinery.tree import Tree

HostPort = tuple[str, str, int]
"""Address, protocol, port."""


class Shape:
    """What a pod demands, shared by all pods that demand the same. Compared by identity."""

    def __init__(
        self,
        namespace: str,
        labels: Mapping[str, str],
        demand: Demand,
        statuses: Mapping[str, ContainerHold] | None = None,
        infeasible: bool = False,
    ) -> None:
        self.namespace = namespace
        self.labels = labels
        self._demand = demand
        self._statuses, self._infeasible = statuses, infeasible
        self.tolerations: Tolerations = demand.tolerations or ()

    def _requests(self, *, pod_level: bool = True, assumed: Amounts | None = None) -> Whole:
        return demanded(
            self._demand, self._statuses, self._infeasible, pod_level=pod_level, assumed=assumed
        )

    @cached_property
    def requests(self) -> Whole:
        """What the node must have free; cpu in thousandths."""
        return self._requests()

    @cached_property
    def nonzero(self) -> tuple[int, int]:
        """Cpu and memory as nodes sum them for scores: silent containers count a little."""
        assumed = assumed_for(self.requests, self._demand.resources)
        found = self._requests(assumed=assumed) if assumed else self.requests
        return found.get("cpu", 0), found.get("memory", 0)

    @cached_property
    def scored(self) -> Whole:
        """Requests as NodeResourcesFit scores them: assumed amounts, pod level ignored."""
        return self._requests(pod_level=False, assumed=ASSUMED)

    @cached_property
    def node_choice(self) -> NodeChoice:
        """The nodes that ``nodeSelector`` and required node affinity leave."""
        selector = tuple(
            Requirement(key, "in", (value,))
            for key, value in sorted((self._demand.node_selector or {}).items())
        )
        required = self._affinity("nodeAffinity").get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        )
        return NodeChoice(selector, node_terms(required))

    @cached_property
    def preferred_nodes(self) -> tuple[tuple[int, NodeTerm], ...]:
        """Weighted preferences for nodes, without those that cannot count."""
        return preferred_node_terms(self._affinity("nodeAffinity"))

    @cached_property
    def affinity(self) -> tuple[AffinityTerm, ...]:
        """Required pod affinity."""
        return self._required("podAffinity")

    @cached_property
    def anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Required pod anti-affinity."""
        return self._required("podAntiAffinity")

    @cached_property
    def preferred_affinity(self) -> tuple[AffinityTerm, ...]:
        """Preferred pod affinity, with weights."""
        return self._preferred("podAffinity")

    @cached_property
    def preferred_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Preferred pod anti-affinity, with weights."""
        return self._preferred("podAntiAffinity")

    @cached_property
    def has_pod_terms(self) -> bool:
        """Whether the pod says anything about other pods."""
        return bool(
            self.affinity
            or self.anti_affinity
            or self.preferred_affinity
            or self.preferred_anti_affinity
        )

    @cached_property
    def spread(self) -> tuple[SpreadConstraint, ...]:
        """Topology spread constraints, hard and soft."""
        return tuple(
            spread_constraint(tree, self.labels)
            for tree in self._demand.topology_spread_constraints or ()
        )

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        """Host ports of containers and sidecars."""
        demand = self._demand
        sidecars = (one for one in demand.init_containers or () if one.restart_policy == "Always")
        return tuple(
            (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
            for container in (*sidecars, *demand.containers)
            for port in container.ports or ()
            if port.host_port > 0
        )

    @cached_property
    def features(self) -> frozenset[str]:
        """What the node's kubelet must have declared that it can do."""
        demand = self._demand
        containers = (*(demand.init_containers or ()), *demand.containers)
        rules = (rule for one in containers for rule in one.restart_policy_rules or ())
        found = set()
        if any(rule.action == "RestartAllContainers" for rule in rules):
            found.add("RestartAllContainersOnContainerExits")
        if demand.host_network and demand.host_users is False:
            found.add("UserNamespacesHostNetworkSupport")
        return frozenset(found)

    @cached_property
    def images(self) -> tuple[str, ...]:
        """Images of all containers and image volumes, with tags."""
        demand = self._demand
        found = [one.image for one in (*(demand.init_containers or ()), *demand.containers)]
        found += [one.image.reference for one in demand.volumes or () if one.image is not None]
        return tuple(tagged(image) for image in found)

    @cached_property
    def container_count(self) -> int:
        """Containers and init containers."""
        return len(self._demand.containers) + len(self._demand.init_containers or ())

    def _affinity(self, part: str) -> Tree:
        affinity = self._demand.affinity
        return (affinity.get(part) or {}) if affinity is not None else {}

    def _required(self, part: str) -> tuple[AffinityTerm, ...]:
        terms = self._affinity(part).get("requiredDuringSchedulingIgnoredDuringExecution")
        return tuple(affinity_term(term, self.namespace) for term in terms or ())

    def _preferred(self, part: str) -> tuple[AffinityTerm, ...]:
        terms = self._affinity(part).get("preferredDuringSchedulingIgnoredDuringExecution")
        return tuple(
            affinity_term(term.get("podAffinityTerm") or {}, self.namespace, term.get("weight", 0))
            for term in terms or ()
        )


def preferred_node_terms(node_affinity: Tree) -> tuple[tuple[int, NodeTerm], ...]:
    """Return weighted terms of a ``NodeAffinity`` object; empty terms and weight 0 drop out."""
    found = (
        (term.get("weight", 0), node_term(term.get("preference") or {}))
        for term in node_affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    )
    return tuple((weight, term) for weight, term in found if weight and not term.empty)


def tagged(image: str) -> str:
    """Return the image name with ``:latest`` where it names no tag."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
