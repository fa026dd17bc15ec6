import pytest

from windtunnel.kinds.rules.zones import zone_of

BETA = "failure-domain.beta.kubernetes.io"
STABLE = "topology.kubernetes.io"

ZONES = {
    "no labels": ({}, ""),
    "a zone alone": ({f"{STABLE}/zone": "a"}, ":\0:a"),
    "a region alone": ({f"{STABLE}/region": "r"}, "r:\0:"),
    "both": ({f"{STABLE}/region": "r", f"{STABLE}/zone": "a"}, "r:\0:a"),
    "beta labels win": ({f"{BETA}/zone": "b", f"{STABLE}/zone": "a"}, ":\0:b"),
}


@pytest.mark.parametrize(("labels", "want"), ZONES.values(), ids=ZONES.keys())
def test_the_zone_of_a_node(labels: dict[str, str], want: str) -> None:
    assert zone_of(labels) == want
