from __future__ import annotations

import pytest
from tests.kinds.answers import answers, play

from windtunnel.kinds.events import DECLARATIONS, from_stored, to_stored
from windtunnel.machinery.tree import Tree


@pytest.mark.parametrize("case", answers("events"))
def test_the_rules_say_what_the_real_server_says(case: Tree) -> None:
    play(case)


def test_an_event_is_the_same_in_both_groups() -> None:
    core: Tree = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "p"},
        "message": "hello",
        "source": {"component": "c"},
        "count": 3,
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": None,
        "eventTime": None,
        "reportingComponent": "",
        "reportingInstance": "",
    }

    assert to_stored(from_stored(dict(core))) == core


def test_an_event_is_selected_by_the_names_of_either_group() -> None:
    event: Tree = {"regarding": {"name": "p"}, "reportingController": "a.b/c"}
    rules = DECLARATIONS["events.events.k8s.io"].rules

    fields = rules.selectable(event)

    assert fields["regarding.name"] == fields["involvedObject.name"] == "p"
    assert fields["source"] == fields["reportingController"] == "a.b/c"
