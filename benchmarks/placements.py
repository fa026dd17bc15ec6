"""Prints the bare cycle's placements a second: no API, one shape, default profile.

    python benchmarks/placements.py [--nodes 5000] [--pods 30000] [--shapes 1] [--kinds 1]

Nodes have 96 cpu, 768 GiB and 8 GPUs in 3 zones; pods ask for 1 GPU, 4 cpu and 16 GiB. Sampling,
rotation and tie-break are exact. ``--shapes`` takes turns between so many shapes of pods,
``--kinds`` makes so many kinds of nodes, so that fewer states repeat.
"""

import argparse
from time import perf_counter

from msgspec.structs import replace

from windtunnel.fleet import Fleet, PodView, read_node
from windtunnel.machinery.tree import Key, Tree, encode
from windtunnel.placement.search import Cycle, Nominations
from windtunnel.scheduler import read_configuration


def node(number: int, kinds: int) -> Tree:
    zone = f"zone-{number % 3}"
    allocatable = {
        "cpu": "96",
        "memory": f"{768 * 1024 * 1024 - (number % kinds) * 4096}Ki",
        "nvidia.com/gpu": "8",
        "pods": "110",
    }
    labels = {"kubernetes.io/hostname": f"node-{number}", "topology.kubernetes.io/zone": zone}
    return {
        "metadata": {"name": f"node-{number}", "labels": labels},
        "status": {"allocatable": allocatable},
    }


def pod(number: int, shape: int) -> Tree:
    requests = {"cpu": "4", "memory": f"{16384 - shape}Mi", "nvidia.com/gpu": "1"}
    return {
        "metadata": {"name": f"pod-{number}", "namespace": "default", "uid": f"uid-{number}"},
        "spec": {"containers": [{"name": "main", "resources": {"requests": requests}}]},
    }


def measure(nodes: int, pods: int, shapes: int, kinds: int) -> float:
    fleet = Fleet()
    for number in range(nodes):
        fleet.put_node(read_node(encode(node(number, kinds))))
    cycle = Cycle(fleet, read_configuration().profiles[0].rules, Nominations())
    patterns = [fleet.reader.read(encode(pod(0, shape))) for shape in range(shapes)]
    queue: list[PodView] = [
        replace(patterns[number % shapes], key=Key("default", f"pod-{number}"))
        for number in range(min(pods, nodes * 8))
    ]
    for pattern in patterns:
        cycle.decide(pattern)
    started = perf_counter()
    for each in queue:
        decision = cycle.decide(each)
        fleet.place(each, decision.node)
    seconds = perf_counter() - started
    fleet.check()
    return len(queue) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option, default in (("nodes", 5000), ("pods", 30000), ("shapes", 1), ("kinds", 1)):
        parser.add_argument(f"--{option}", type=int, default=default)
    options = parser.parse_args()
    rate = measure(options.nodes, options.pods, options.shapes, options.kinds)
    print(
        f"bare cycle: {rate:,.0f} placements/s "
        f"({options.nodes} nodes, {options.shapes} shapes, {options.kinds} kinds of nodes)"
    )


if __name__ == "__main__":
    main()
