from pathlib import Path

import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu.device_plugin.settings import read_settings, topology_url
from windtunnel.machinery.tree import Key

GIVEN = {"NODE_NAME": "n1", "TOPOLOGY_CM_NAME": "topology", "TOPOLOGY_CM_NAMESPACE": "gpu"}


def test_the_document_is_the_nodes() -> None:
    settings = read_settings(GIVEN | {"FAKE_NODE": "true"})

    assert settings.document == Key("gpu", "topology-n1")
    assert settings.fake_node


@pytest.mark.parametrize("name", GIVEN)
def test_what_must_be_set_is_asked_for(name: str) -> None:
    with pytest.raises(UsageError, match=f"^{name} is not set$"):
        read_settings(GIVEN | {name: ""})


def test_sockets_are_found_by_their_short_path(tmp_path: Path) -> None:
    (tmp_path / "root/var/lib/kubelet").mkdir(parents=True)
    (tmp_path / "p").mkdir()
    (tmp_path / "root/var/lib/kubelet/device-plugins").symlink_to(tmp_path / "p")

    settings = read_settings(GIVEN | {"WINDTUNNEL_ROOT": str(tmp_path / "root")})

    assert settings.sockets == tmp_path / "p"


HOST = {"TOPOLOGY_SERVER_SERVICE_HOST": "10.96.0.7", "TOPOLOGY_SERVER_SERVICE_PORT": "80"}
URLS = {
    "nobody says": ({}, ""),
    "by the service's variables": (HOST, "http://10.96.0.7:80"),
    "an address of many bits": (
        HOST | {"TOPOLOGY_SERVER_SERVICE_HOST": "fd00::7"},
        "http://[fd00::7]:80",
    ),
    "what is said wins": (HOST | {"TOPOLOGY_SERVER_URL": "http://other"}, "http://other"),
}


@pytest.mark.parametrize(("environment", "url"), URLS.values(), ids=URLS.keys())
def test_where_containers_find_the_topology(environment: dict[str, str], url: str) -> None:
    assert topology_url(environment) == url
