"""One state of one object."""

from windtunnel.machinery.tree import Key
from windtunnel.store.version import Version, forget_previous


def version(revision: int, previous: Version | None = None) -> Version:
    body = b'{"metadata":{"resourceVersion":"%d"}}' % revision
    return Version("pods", Key("ns", "a"), revision, "MODIFIED", body, "", {}, {}, 1, previous)


def test_every_tree_belongs_to_who_decoded_it() -> None:
    one = version(2)
    one.tree()["metadata"]["labels"] = {"mine": "only"}

    assert one.tree() == {"metadata": {"resourceVersion": "2"}}


def test_the_state_before_can_be_let_go() -> None:
    one = version(3, version(2))
    forget_previous(one)

    assert one.previous is None
