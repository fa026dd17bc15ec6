from __future__ import annotations

import pytest

from windtunnel.kinds.workload.job_cells import job_cells
from windtunnel.machinery.tree import Tree

RUNS = {"metadata": {"name": "j"}, "spec": {"completions": 3}, "status": {"succeeded": 1}}
CELLS = {
    "one of three is done": (RUNS, "Running", "1/3"),
    "a job without a number": ({"spec": {}, "status": {}}, "Running", "0/1"),
    "it is complete": (
        {**RUNS, "status": {"conditions": [{"type": "Complete", "status": "True"}]}},
        "Complete", "0/3",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("job", "status", "done"), CELLS.values(), ids=CELLS.keys())
def test_a_row_says_how_far_a_job_has_come(job: Tree, status: str, done: str) -> None:
    cells = job_cells({"metadata": {"name": "j"}, **job}, 0.0)

    assert cells[1:3] == [status, done]
