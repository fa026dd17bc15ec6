"""Tests of which GPUs a node is to have."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from tests.devices.cut import BUSY

from windtunnel.devices import GpuShape, NodeTopology, TopologyGpu, gpu_id
from windtunnel.gpu.pools import Hardware
from windtunnel.gpu.status_updater.wanted import loss, wanted

TWO = Hardware(
    shape=GpuShape(product="X", count=2, memory_mib=5), other_devices=(), mig_strategy="mixed"
)
ONE = replace(TWO, shape=replace(TWO.shape, count=1))
MADE = TWO.fitted("n", None)
EDITED = NodeTopology(gpu_product="edited", gpus=MADE.gpus)
FOREIGN = NodeTopology(gpus=(TopologyGpu(id="theirs"),))


@dataclass
class Case:
    hardware: Hardware | None
    known: Hardware | None
    current: NodeTopology | None
    want: NodeTopology | None
    made_only: bool = False


CASES = {
    "a node without a document gets its pool's": Case(TWO, None, None, MADE),
    "without a pool or a document nobody can say": Case(None, None, None, None),
    "without a pool its document holds": Case(None, TWO, EDITED, EDITED),
    "an edited document stays while its pool stays": Case(TWO, TWO, EDITED, EDITED),
    "a pool that changes is followed": Case(ONE, TWO, EDITED, ONE.fitted("n", EDITED)),
    "one of ours found at the start is brought in line": Case(TWO, None, EDITED, MADE),
    "one of others found at the start stays": Case(TWO, None, FOREIGN, FOREIGN),
    "one of others follows its pool, too": Case(ONE, TWO, FOREIGN, ONE.fitted("n", FOREIGN)),
    "what is only made stays whatever comes": Case(ONE, TWO, EDITED, EDITED, made_only=True),
    "what is only made is made": Case(TWO, None, None, MADE, made_only=True),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_wanted(case: Case) -> None:
    found = wanted("n", case.hardware, case.known, case.current, made_only=case.made_only)

    assert found == case.want


def test_who_loses_a_gpu_is_named() -> None:
    free, taken = MADE.gpus[0], TopologyGpu(id=gpu_id("n", 1), status=BUSY)

    words = loss("n", NodeTopology(gpus=(free, taken)), NodeTopology(gpus=(free,)))

    assert words == f"node n has 1 GPUs now; gone is {taken.id} of pod ml/p1"


def test_a_free_gpu_is_no_loss() -> None:
    assert loss("n", MADE, NodeTopology()) == ""
