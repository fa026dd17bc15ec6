from windtunnel.controllers.endpoints.packing import Group
from windtunnel.controllers.endpoints.subsets import subsets_of
from windtunnel.machinery.tree import Tree


def endpoint(ip: str, *, ready: bool = True) -> Tree:
    return {"addresses": [ip], "conditions": {"ready": ready}, "nodeName": "n"}


PORT: Tree = {"name": "", "protocol": "TCP", "port": 80}


def test_addresses_are_sorted_and_parted_by_readiness() -> None:
    group = Group("IPv4", (PORT,), [endpoint("2"), endpoint("1"), endpoint("3", ready=False)])

    assert subsets_of([group, Group("IPv6", (PORT,), [endpoint("x")])], 10) == (
        [
            {
                "addresses": [{"ip": "1", "nodeName": "n"}, {"ip": "2", "nodeName": "n"}],
                "notReadyAddresses": [{"ip": "3", "nodeName": "n"}],
                "ports": [{"port": 80, "protocol": "TCP"}],
            }
        ],
        False,
    )


def test_what_is_too_much_is_cut_off() -> None:
    groups = [
        Group("IPv4", None, [endpoint("1"), endpoint("2")]),
        Group("IPv4", (PORT,), [endpoint("3")]),
    ]

    assert subsets_of(groups, 1) == ([{"addresses": [{"ip": "1", "nodeName": "n"}]}], True)


def test_nothing_gives_no_subset() -> None:
    assert subsets_of([Group("IPv4", None)], 10) == ([], False)
