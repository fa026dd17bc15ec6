from typing import Any

import msgspec

from windtunnel.controllers.job.backoff import Backoff, finish_time
from windtunnel.controllers.views import PodView
from windtunnel.machinery.timestamp import time_text

NOW = 1_800_000_000.0


def ended(ago: float) -> PodView:
    state = {"terminated": {"exitCode": 1, "finishedAt": time_text(NOW - ago)}}
    return pod(status={"containerStatuses": [{"name": "c", "state": state}]})


def pod(**parts: Any) -> PodView:
    return msgspec.convert({"metadata": {"name": "p"}, **parts}, PodView)


def test_failures_add_up_from_the_last_one() -> None:
    assert Backoff(1, NOW - 90).after([], [ended(30), ended(10)], NOW) == Backoff(3, NOW - 10)


def test_a_success_forgives_what_came_before() -> None:
    assert Backoff(5, NOW - 90).after([ended(20)], [ended(30)], NOW) == Backoff()
    assert Backoff(5, NOW - 90).after([ended(20)], [ended(10)], NOW) == Backoff(1, NOW - 10)


def test_nothing_new_changes_nothing() -> None:
    assert Backoff(2, NOW).after([], [], NOW) == Backoff(2, NOW)


def test_the_end_is_told_by_containers_readiness_or_deletion() -> None:
    not_ready = {"type": "Ready", "status": "False", "lastTransitionTime": time_text(NOW - 7)}
    deletion = {"name": "p", "deletionTimestamp": time_text(NOW), "deletionGracePeriodSeconds": 30}

    assert finish_time(ended(5), NOW) == NOW - 5
    assert finish_time(pod(status={"conditions": [not_ready]}), NOW) == NOW - 7
    assert finish_time(pod(metadata=deletion), NOW) == NOW - 30
    assert finish_time(pod(), NOW) == NOW
