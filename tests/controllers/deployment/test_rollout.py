import msgspec
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.controllers.deployment.rollout import (
    Share,
    grow_newest,
    max_surge,
    max_unavailable,
    scale,
    shrink_old,
)
from windtunnel.controllers.deployment.views import DeploymentView
from windtunnel.controllers.views import ReplicaSetView


def deployment(replicas: int, surge: int | str = 1, unavailable: int | str = 0) -> DeploymentView:
    update = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = {"type": "RollingUpdate", "rollingUpdate": update}
    tree = {"metadata": {"name": "d"}, "spec": {"replicas": replicas, "strategy": strategy}}
    return msgspec.convert(tree, DeploymentView)


def share(
    name: str, replicas: int, available: int | None = None, max_note: int | None = None
) -> Share:
    status = {"availableReplicas": replicas if available is None else available}
    metadata = {"name": name, "creationTimestamp": f"2027-01-15T08:00:0{name[-1]}Z"}
    tree = {"metadata": metadata, "spec": {"replicas": replicas}, "status": status}
    return Share(msgspec.convert(tree, ReplicaSetView), replicas, None, max_note)


def test_a_rollout_that_could_never_move_may_miss_one_pod() -> None:
    stuck = deployment(3, 0, 0)

    assert (max_surge(stuck), max_unavailable(stuck)) == (0, 1)


def test_missing_pods_never_exceed_the_wanted_ones() -> None:
    assert max_unavailable(deployment(2, 0, 5)) == 2


def test_the_newest_grows_as_far_as_the_surge_allows() -> None:
    moves = grow_newest(deployment(5, 2, 1), share("n9", 0, 0), [share("o1", 5)])

    assert [(move.before, move.after) for move in moves] == [(0, 2)]


def test_old_sets_give_up_what_the_rollout_can_spare() -> None:
    moves = shrink_old(deployment(5, 2, 1), share("n9", 2, 0), [share("o1", 5)])

    assert [(move.name, move.before, move.after) for move in moves] == [("o1", 5, 4)]


def test_broken_old_pods_go_first_and_in_a_step_of_their_own() -> None:
    old = [share("o1", 3, 1), share("o2", 3, 3)]
    moves = shrink_old(deployment(6, 2, 2), share("n9", 2, 2), old)

    assert [(move.name, move.before, move.after) for move in moves] == [
        ("o1", 3, 1),
        ("o1", 1, 0),
        ("o2", 3, 2),
    ]


def test_nothing_goes_while_a_count_lags_behind() -> None:
    assert shrink_old(deployment(6, 3, 2), share("n9", 3, 0), [share("o1", 6, 8)]) == []


def test_a_smaller_deployment_shrinks_its_sets_in_proportion() -> None:
    # Recorded: 10 -> 6 during a rollout with surge 3: 8+5 becomes 6+3.
    old, newest = share("o1", 8, max_note=13), share("n2", 5, max_note=13)
    scale(deployment(6, 3, 2), newest, [old])

    assert (old.replicas, newest.replicas) == (6, 3)


def test_a_single_active_set_takes_the_whole_number() -> None:
    newest = share("n2", 3)
    moves = scale(deployment(7), newest, [share("o1", 0)])

    assert [(move.name, move.after) for move in moves] == [("n2", 7)]


def test_at_zero_everything_goes() -> None:
    old, newest = share("o1", 2, max_note=5), share("n2", 3, max_note=5)
    scale(deployment(0), newest, [old])

    assert (old.replicas, newest.replicas) == (0, 0)


sizes = st.lists(st.integers(1, 20), min_size=2, max_size=5)


@given(sizes=sizes, wanted=st.integers(1, 60), surge=st.integers(0, 10))
def test_proportional_scaling_loses_and_invents_no_pod(
    sizes: list[int], wanted: int, surge: int
) -> None:
    shares = [share(f"s{n}", size, max_note=sum(sizes)) for n, size in enumerate(sizes)]
    model = deployment(wanted, surge, 1)
    scale(model, shares[-1], shares[:-1])

    total = sum(each.replicas for each in shares)
    assert all(each.replicas >= 0 for each in shares)
    assert total == wanted + max_surge(model)


@given(
    sizes=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=4),
    wanted=st.integers(1, 12),
    surge=st.integers(0, 4),
    unavailable=st.integers(0, 4),
)
def test_a_rollout_never_goes_below_what_must_stay_available(
    sizes: list[tuple[int, int]], wanted: int, surge: int, unavailable: int
) -> None:
    shares = [share(f"s{n}", size, min(size, up)) for n, (size, up) in enumerate(sizes)]
    model = deployment(wanted, surge, unavailable)
    newest, old = shares[-1], shares[:-1]
    before = sum(each.available for each in shares)
    moves = shrink_old(model, newest, old)

    left = newest.available + sum(min(each.available, each.replicas) for each in old)
    least = wanted - max_unavailable(model)
    assert left >= min(before, least)
    assert all(move.after < move.before for move in moves)
