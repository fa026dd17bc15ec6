import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu.exporter.settings import Settings, read_settings


def test_without_words_there_are_defaults() -> None:
    assert read_settings({}, played=True) == Settings()
    assert read_settings({"NODE_NAME": "n1"}, played=True).node == ""


def test_what_is_said_counts() -> None:
    told = {
        "NODE_NAME": "n1",
        "TOPOLOGY_CM_NAME": "other",
        "TOPOLOGY_CM_NAMESPACE": "gpu",
        "TOPOLOGY_MAX_EXPORT_INTERVAL": "1m",
        "NODE_RESOURCE_TOPOLOGY_ENABLED": "true",
        "NODE_RESOURCE_TOPOLOGY_LIVE": "true",
        "POD_RESOURCES_ENABLED": "true",
        "WINDTUNNEL_LISTEN_HOST": "127.42.0.9",
        "WINDTUNNEL_LISTEN_PORT": "9401",
    }

    assert read_settings(told, played=False) == Settings(
        node="n1",
        topology_name="other",
        namespace="gpu",
        interval_seconds=60.0,
        zones=True,
        live_zones=True,
        pod_resources=True,
        host="127.42.0.9",
        port=9401,
    )
    assert not read_settings(told, played=True).pod_resources


@pytest.mark.parametrize("text", ["web", "-1", "65536", "٣"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="which is no port"):
        read_settings({"WINDTUNNEL_LISTEN_PORT": text}, played=True)


def test_an_exporter_of_one_node_must_know_which() -> None:
    with pytest.raises(UsageError, match="NODE_NAME is not set"):
        read_settings({}, played=False)
