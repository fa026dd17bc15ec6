"""Tests of how a program in a pod finds its API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.client import incluster
from windtunnel.errors import UsageError


@pytest.fixture
def account(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("t")
    (tmp_path / "ca.crt").write_bytes(b"CA")
    return tmp_path


def pod(host: str = "10.0.0.1") -> dict[str, str]:
    return {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "443"}


def test_a_pod_reaches_its_server_by_what_is_mounted(account: Path) -> None:
    found = incluster.connect(pod(), account)

    assert found.server == "https://10.0.0.1:443"
    assert (found.ca, found.token_file) == (b"CA", account / "token")


def test_an_address_of_version_six_stands_in_brackets(account: Path) -> None:
    assert incluster.connect(pod("fd00::1"), account).server == "https://[fd00::1]:443"


@pytest.mark.parametrize(
    ("host", "port"), [("10.0.0.1", "abc"), ("10.0.0.1", "99999999"), ("not a host", "443")]
)
def test_a_pod_is_told_a_place_that_cannot_be(host: str, port: str, account: Path) -> None:
    told = pod(host) | {"KUBERNETES_SERVICE_PORT": port}

    with pytest.raises(UsageError, match="is no address of an API server"):
        incluster.connect(told, account)


def test_a_kubeconfig_goes_before_the_pod(account: Path, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        "{clusters: [{name: c, cluster: {server: 'https://elsewhere'}}], "
        "contexts: [{name: c, context: {cluster: c}}], current-context: c}"
    )

    found = incluster.connect(pod() | {"KUBECONFIG": str(file)}, account)

    assert found.server == "https://elsewhere"


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"there is no kubeconfig {tmp_path}/none"):
        incluster.connect({"KUBECONFIG": str(tmp_path / "none")})


def test_outside_of_any_pod_it_says_what_is_missing(account: Path) -> None:
    with pytest.raises(UsageError, match=r"_PORT are not set; .* KUBECONFIG"):
        incluster.connect({}, account)


def test_a_pod_without_an_account_says_which_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no service account: cannot read .*ca\.crt"):
        incluster.connect(pod(), tmp_path)


def test_what_is_mounted_lies_elsewhere_without_a_root_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "var/run/secrets/kubernetes.io/serviceaccount"
    folder.mkdir(parents=True)
    (folder / "token").write_text("t")
    (folder / "ca.crt").write_bytes(b"CA")

    found = incluster.connect(pod() | {"WINDTUNNEL_ROOT": str(tmp_path)})

    assert found.token_file == folder / "token"
