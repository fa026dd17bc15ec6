"""Tests of the settings of the topology server."""

import pytest

from windtunnel.errors import UsageError
from windtunnel.gpu.topology_server import Settings, read_settings


def test_everything_has_a_default() -> None:
    assert read_settings({}) == Settings()


def test_what_is_set_is_read() -> None:
    found = read_settings({"TOPOLOGY_CM_NAME": "t", "WINDTUNNEL_LISTEN_HOST": "127.42.0.7"})

    assert (found.topology_name, found.host) == ("t", "127.42.0.7")


def test_what_is_no_port_is_refused() -> None:
    assert read_settings({"WINDTUNNEL_LISTEN_PORT": "81"}).port == 81
    with pytest.raises(UsageError, match="which is no port"):
        read_settings({"WINDTUNNEL_LISTEN_PORT": "99999"})
