"""Our context comes and goes; whatever else stands in the file stays as it was."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from windtunnel.client import kubeconfig
from windtunnel.client.connection import Connection
from windtunnel.errors import UsageError

OURS = Connection("https://127.0.0.1:6443", ca=b"CA", certificate=b"CRT", key=b"KEY")
ADDITION = kubeconfig.entry("windtunnel-a", OURS)

names = st.text("abcdef-", min_size=1, max_size=6)
leaves = st.one_of(st.text(max_size=5), st.integers(-5, 5), st.booleans(), st.none())
trees = st.recursive(leaves, lambda inner: st.dictionaries(names, inner, max_size=3), max_leaves=4)


def sections(field: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    items = st.fixed_dictionaries({"name": names, field: trees}, optional={"extra": trees})
    return st.lists(items, max_size=4, unique_by=lambda item: item["name"])


configs = st.fixed_dictionaries(
    {},
    optional={
        "apiVersion": st.just("v1"),
        "kind": st.just("Config"),
        "clusters": sections("cluster"),
        "users": sections("user"),
        "contexts": sections("context"),
        "current-context": names,
        "preferences": trees,
        "extensions": trees,
    },
)


def others(config: dict[str, Any]) -> dict[str, Any]:
    """Return what of a kubeconfig is not ours, empty lists left out."""
    left: dict[str, Any] = {
        field: value for field, value in config.items() if field not in ("apiVersion", "kind")
    }
    for section in ("clusters", "users", "contexts"):
        left[section] = [
            item for item in config.get(section) or [] if item["name"] != "windtunnel-a"
        ]
    if left.get("current-context") in ("windtunnel-a", ""):
        del left["current-context"]
    return left


@settings(max_examples=40)
@given(configs)
def test_merging_leaves_all_others_as_they_are_and_in_order(config: dict[str, Any]) -> None:
    merged = kubeconfig.merged(config, ADDITION)

    assert others(merged) == others(config)
    assert [item for item in merged["clusters"] if item["name"] == "windtunnel-a"] == (
        ADDITION["clusters"]
    )


@settings(max_examples=40)
@given(configs)
def test_taking_out_what_was_put_in_gives_back_the_same(config: dict[str, Any]) -> None:
    assert others(kubeconfig.without(kubeconfig.merged(config, ADDITION), "windtunnel-a")) == (
        others(config)
    )


@settings(max_examples=40)
@given(configs)
def test_merging_twice_is_merging_once(config: dict[str, Any]) -> None:
    once = kubeconfig.merged(config, ADDITION)

    assert kubeconfig.merged(once, ADDITION) == once


def test_a_file_keeps_its_other_contexts_through_add_and_remove(tmp_path: Path) -> None:
    file = tmp_path / "config"
    before = {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {"colors": True},
        "clusters": [{"name": "prod", "cluster": {"server": "https://prod", "x-ours": [1, "é"]}}],
        "users": [{"name": "me", "user": {"exec": {"command": "login"}}}],
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "me"}}],
        "current-context": "prod",
    }
    file.write_text(yaml.safe_dump(before))

    kubeconfig.add_context(file, "windtunnel-a", OURS)
    assert kubeconfig.read(file)["current-context"] == "prod"
    assert kubeconfig.connection(file, "windtunnel-a") == OURS

    kubeconfig.remove_context(file, "windtunnel-a")
    assert kubeconfig.read(file) == before


def test_ours_becomes_current_only_where_nothing_is(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "config"

    kubeconfig.add_context(file, "windtunnel-a", OURS)

    assert kubeconfig.read(file)["current-context"] == "windtunnel-a"
    assert kubeconfig.connection(file) == OURS


def test_the_file_is_private_and_nothing_else_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.touch(mode=0o644)

    kubeconfig.add_context(file, "windtunnel-a", OURS)

    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["config"]


def test_a_file_in_which_nothing_changes_is_not_rewritten(tmp_path: Path) -> None:
    file = tmp_path / "config"
    kubeconfig.add_context(file, "windtunnel-a", OURS)
    file.write_text("# a comment\n" + file.read_text())

    kubeconfig.add_context(file, "windtunnel-a", OURS)
    kubeconfig.remove_context(file, "windtunnel-b")

    assert file.read_text().startswith("# a comment\n")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.touch()
    link.symlink_to(real)

    kubeconfig.add_context(link, "windtunnel-a", OURS)

    assert link.is_symlink()
    assert "windtunnel-a" in real.read_text()


MALFORMED = {
    "no YAML": (b"clusters: [", "is not YAML"),
    "not a mapping": (b"- a\n- b\n", "it holds no mapping"),
    "another kind": (b"kind: Pod\n", "its kind is Pod, not Config"),
    "clusters that are no list": (b"clusters: 5\n", "clusters is not a list of mappings"),
    "users that are texts": (b"users: [me]\n", "users is not a list of mappings"),
    "bytes that are no text": (b"\xff\xfe\x00", "cannot read"),
}


@pytest.mark.parametrize(("content", "said"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_refused_and_left_alone(
    tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "config"
    file.write_bytes(content)

    with pytest.raises(UsageError, match=said):
        kubeconfig.add_context(file, "windtunnel-a", OURS)

    assert file.read_bytes() == content
    assert not file.with_name("config.lock").exists()


def test_a_file_that_someone_else_is_writing_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubeconfig, "LOCK_PATIENCE_SECONDS", 0.1)
    (tmp_path / "config.lock").touch()

    with pytest.raises(UsageError, match=r"is locked: .*config\.lock is still there after 0\.1 s"):
        kubeconfig.add_context(tmp_path / "config", "windtunnel-a", OURS)


def test_where_nothing_is_to_be_taken_out_nobody_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("{}")
    (tmp_path / "config.lock").touch()

    kubeconfig.remove_context(file, "windtunnel-a")

    assert (tmp_path / "config.lock").exists()


def test_a_device_is_not_taken_for_a_file() -> None:
    with pytest.raises(UsageError, match="kubeconfig /dev/null is not a file"):
        kubeconfig.add_context(Path("/dev/null"), "windtunnel-a", OURS)

    assert Path("/dev/null").is_char_device()


def test_a_read_only_file_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.touch(mode=0o444)

    with pytest.raises(UsageError, match="it is read-only"):
        kubeconfig.add_context(file, "windtunnel-a", OURS)

    assert file.read_text() == ""
    assert [entry.name for entry in tmp_path.iterdir()] == ["config"]


def test_a_cluster_of_our_name_elsewhere_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config"
    theirs = kubeconfig.entry("windtunnel-a", Connection("https://prod", token="secret"))
    file.write_text(yaml.safe_dump(theirs))

    with pytest.raises(UsageError, match=r"knows another cluster as windtunnel-a \(https://prod\)"):
        kubeconfig.add_context(file, "windtunnel-a", OURS)
    kubeconfig.remove_context(file, "windtunnel-a")

    assert yaml.safe_load(file.read_text()) == theirs


def only_user(**fields: object) -> dict[str, Any]:
    config = kubeconfig.entry("c", Connection("https://h"))
    config["users"][0]["user"] = fields
    return config


READ = {
    "a token": (only_user(token="t"), Connection("https://h", token="t")),
    "certificate files, relative to the kubeconfig": (
        only_user(**{"client-certificate": "token", "client-key": "token"}),
        Connection("https://h", certificate=b"from-file\n", key=b"from-file\n"),
    ),
    "certificates inline": (
        only_user(**{"client-certificate-data": base64.b64encode(b"x").decode()}),
        Connection("https://h", certificate=b"x"),
    ),
}


@pytest.mark.parametrize(("config", "want"), READ.values(), ids=READ)
def test_a_connection_is_read_with(
    tmp_path: Path, config: dict[str, Any], want: Connection
) -> None:
    (tmp_path / "token").write_text("from-file\n")
    (tmp_path / "config").write_text(yaml.safe_dump(config))

    assert kubeconfig.connection(tmp_path / "config") == want


def test_a_token_file_is_named_as_seen_from_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    (tmp_path / "config").write_text(yaml.safe_dump(only_user(tokenFile="token")))

    assert kubeconfig.connection(tmp_path / "config").token_file == tmp_path / "token"


REFUSED = {
    "a login by program": (only_user(exec={"command": "x"}), "logs in by exec"),
    "a certificate that is not base64": (
        only_user(**{"client-certificate-data": "%%"}),
        "is not base64",
    ),
    "a missing file": (only_user(tokenFile="nowhere"), "cannot read .*nowhere"),
    "no context at all": ({"kind": "Config"}, "no current context"),
    "a context of a missing cluster": (
        {"contexts": [{"name": "c", "context": {"cluster": "x"}}], "current-context": "c"},
        "has no cluster x",
    ),
}


@pytest.mark.parametrize(("config", "said"), REFUSED.values(), ids=REFUSED)
def test_a_connection_is_refused_for(tmp_path: Path, config: dict[str, Any], said: str) -> None:
    (tmp_path / "config").write_text(yaml.safe_dump(config))

    with pytest.raises(UsageError, match=said):
        kubeconfig.connection(tmp_path / "config")


def test_the_default_file_is_where_kubectl_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", ":/a/config:/b/config")
    assert kubeconfig.default_path() == Path("/a/config")

    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", "/somewhere/me")
    assert kubeconfig.default_path() == Path("/somewhere/me/.kube/config")
