"""The files that the kubelet itself puts into a container."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.nodes.kubelet.pods.test_plan import record

from windtunnel.machinery.tree import Tree
from windtunnel.nodes.kubelet.pod_files import PodFiles, pod_hosts

POD: Tree = {
    "metadata": {"name": "a", "namespace": "d", "uid": "u"},
    "spec": {"hostAliases": [{"ip": "1.2.3.4", "hostnames": ["x", "y"]}]},
}


def test_a_hosts_file_names_the_pod_and_its_aliases() -> None:
    lines = pod_hosts(POD, "10.42.0.5").splitlines()

    assert lines[0] == "# Kubernetes-managed hosts file."
    assert "10.42.0.5\ta" in lines
    assert lines[-2:] == ["# Entries added by HostAliases.", "1.2.3.4\tx\ty"]


def test_a_hosts_file_that_is_seen_follows_the_services(tmp_path: Path) -> None:
    told = ["127.96.0.1\tweb.d web"]
    files = PodFiles(tmp_path, lambda namespace: told if namespace == "d" else [])
    hosts = Path(files.provide(POD, {"name": "c"}, 0, "10.42.0.5")[0].host_path)
    seen = hosts.open()
    assert told[0] in seen.read()

    hosts.write_text(hosts.read_text() + "6.6.6.6\tadded\n")
    told[:] = ["127.96.0.22\tother.d other"]
    files.renew([POD, {**POD, "metadata": {**POD["metadata"], "uid": "has none"}}])
    seen.seek(0)
    assert told[0] in seen.read()

    told.clear()
    files.renew([POD])
    seen.seek(0)
    assert seen.read() == pod_hosts(POD, "10.42.0.5") + "6.6.6.6\tadded\n"
    seen.close()


def test_a_subdomain_makes_a_full_name() -> None:
    pod = {**POD, "spec": {"hostname": "h", "subdomain": "s"}}

    assert "10.42.0.5\th.s.d.svc.cluster.local\th" in pod_hosts(pod, "10.42.0.5")


def test_last_words_are_read_from_the_run_that_left_them(tmp_path: Path) -> None:
    files = PodFiles(tmp_path)
    mounts = files.provide(POD, {"name": "c"}, 1, "10.42.0.5")
    words = next(each for each in mounts if each.container_path == "/dev/termination-log")
    Path(words.host_path).write_text("bye")

    assert files.last_words({"name": "c"}, replace(record("c", 0, 1), pod_uid="u")) == "bye"


def test_of_many_last_words_the_last_are_told(tmp_path: Path) -> None:
    files = PodFiles(tmp_path)
    words = files.provide(POD, {"name": "c"}, 1, "10.42.0.5")[-1]
    Path(words.host_path).write_text("a" * 4096 + "bye")

    said = files.last_words({"name": "c"}, replace(record("c", 0, 1), pod_uid="u"))
    assert said == "a" * 4093 + "bye"


def test_a_line_that_was_not_ended_is_not_ended_in_the_message_either(tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    log.write_text("2026-01-01T00:00:00Z stdout P one, \n2026-01-01T00:00:01Z stdout P two\n")
    container = {"name": "c", "terminationMessagePolicy": "FallbackToLogsOnError"}

    failed = replace(record("c", 1), log_path=log)
    assert PodFiles(tmp_path).last_words(container, failed) == "one, two"


def test_without_last_words_the_end_of_the_log_may_stand_for_them(tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    log.write_text("2026-01-01T00:00:00Z stdout F one\n2026-01-01T00:00:01Z stderr F two words\n")
    container = {"name": "c", "terminationMessagePolicy": "FallbackToLogsOnError"}
    files = PodFiles(tmp_path)

    failed = replace(record("c", 1), log_path=log)
    assert files.last_words(container, failed) == "one\ntwo words\n"
    assert files.last_words(container, replace(record("c", 0), id="well", log_path=log)) == ""


def test_files_of_a_pod_go_with_it(tmp_path: Path) -> None:
    files = PodFiles(tmp_path)
    files.provide(POD, {"name": "c"}, 0, "")
    files.remove("u")

    assert not (tmp_path / "pods" / "u").exists()
