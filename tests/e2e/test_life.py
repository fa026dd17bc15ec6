"""Clusters begin and end cleanly, side by side, whatever is done to them."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.e2e.conftest import BARE, Home
from windtunnel.client.connection import Connection
from windtunnel.machinery.tree import Key, Tree, key_of

pytestmark = pytest.mark.real

Up = Callable[..., Home]

POD: Tree = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "x"}]},
}


def one_sentence(done: subprocess.CompletedProcess[str], code: int, said: str) -> None:
    """Check that a command was refused with a code and one sentence, nothing else."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.startswith("windtunnel: ")
    assert done.stderr.count("\n") == 1, done.stderr


def test_when_up_returns_a_pod_can_be_created(up: Up) -> None:
    home = up()

    created = home.client().create("pods", POD)

    assert created["metadata"]["uid"]


BROKEN = """
import sys
from windtunnel.cli.root import run
from windtunnel.fleet.columns import Columns

def vector(self, shape):
    raise OverflowError("too large")

Columns.vector = vector
sys.exit(run(sys.argv[1:]))
"""
"""Windtunnel whose scheduler meets a bug over any pod."""


def broken(home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BROKEN, "up", "--detach", *arguments],
        env=home.environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_a_bug_over_one_pod_locks_nobody_out_of_the_data(home: Home, up: Up) -> None:
    up("--nodes", "h100:1x8")
    home.client().create("pods", POD)
    home.run("down")

    one_sentence(
        broken(home, *BARE), 3,
        "its scheduler met a bug at pods default/p (OverflowError: too large); "
        "windtunnel up --without scheduler starts it without",
    )  # fmt: skip
    assert broken(home, "--without", "kubelet,scheduler").returncode == 0
    home.client().delete("pods", Key("default", "p"), grace_seconds=0)
    home.run("down")
    assert broken(home, *BARE).returncode == 0


def test_a_write_that_a_part_cannot_follow_is_answered_as_what_it_is(home: Home) -> None:
    assert broken(home, *BARE, "--nodes", "h100:1x8").returncode == 0
    process = home.process()
    pinned: Tree = {**POD, "spec": {**POD["spec"], "nodeName": "h100-0"}}

    assert home.client().create("pods", pinned)["metadata"]["uid"]
    with os.fdopen(os.pidfd_open(process.pid)) as gone:  # readable once it has ended
        assert select.select([gone], [], [], 30)[0]
    told = json.loads(home.run("status", "-o", "json").stdout)
    assert told["state"] == "failed"
    assert "its scheduler met a bug at pods default/p" in told["why"]


def test_status_list_and_down_tell_what_is(up: Up) -> None:
    home = up("--ephemeral")
    process = home.process()

    told = json.loads(home.run("status", "-o", "json").stdout)
    assert told["state"] == "running"
    assert told["url"] == process.url
    assert [c["name"] for c in json.loads(home.run("list", "-o", "json").stdout)] == ["default"]

    assert home.run("down").stdout == "Cluster default is down.\n"
    assert not process.alive
    stopped = home.run("status", "-o", "yaml")
    assert stopped.returncode == 3
    assert yaml.safe_load(stopped.stdout)["state"] == "stopped"
    assert home.run("down").stdout == "Cluster default was not running.\n"


def test_two_clusters_live_side_by_side(up: Up) -> None:
    home = up("--ephemeral", "--name", "a")
    up("--ephemeral", "--name", "b")

    home.client("a").create("pods", POD)

    assert home.client("b").get("pods", Key("default", "p")) is None
    contexts = yaml.safe_load(home.kubeconfig.read_text())["contexts"]
    assert [context["name"] for context in contexts] == ["windtunnel-a", "windtunnel-b"]


def test_the_context_comes_and_goes_and_the_rest_stays(home: Home) -> None:
    before = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "prod", "cluster": {"server": "https://prod"}}],
        "users": [],
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "me"}}],
        "current-context": "prod",
    }
    file = home.path / "mine"
    file.write_text(yaml.safe_dump(before))

    home.run("up", *BARE, "--detach", "--ephemeral", "--kubeconfig", str(file))
    during = yaml.safe_load(file.read_text())
    assert [context["name"] for context in during["contexts"]] == ["prod", "windtunnel-default"]
    assert during["current-context"] == "prod"

    home.run("down")
    assert yaml.safe_load(file.read_text()) == before


def test_what_was_acknowledged_survives_the_death_of_the_process(up: Up) -> None:
    home = up()
    created = home.client().create("pods", POD)
    pid = home.process().pid

    os.kill(pid, signal.SIGKILL)
    while home.process().alive:
        pass
    dead = home.run("status")
    assert dead.returncode == 3
    assert "gone without a farewell" in dead.stdout
    one_sentence(home.run("ledger"), 3, f"cluster default has died: its process {pid} is gone")

    up()
    again = home.client().get("pods", Key("default", "p"))
    assert again is not None
    assert again["metadata"]["uid"] == created["metadata"]["uid"]


def test_down_clears_away_what_a_dead_process_left(up: Up) -> None:
    home = up("--ephemeral")
    os.kill(home.process().pid, signal.SIGKILL)
    while home.process().alive:
        pass

    assert "had died" in home.run("down").stdout
    assert not yaml.safe_load(home.kubeconfig.read_text())["contexts"]
    assert json.loads(home.run("list", "-o", "json").stdout)[0]["state"] == "stopped"


def test_a_second_up_of_the_same_name_is_refused_and_the_first_goes_on(up: Up) -> None:
    home = up("--ephemeral")

    for mode in (["--detach"], []):
        again = home.run("up", *BARE, "--ephemeral", *mode)
        one_sentence(again, 3, "cluster default is already up (process ")

    home.client().create("pods", POD)


def test_a_port_in_use_is_refused(home: Home) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        for mode in (["--detach"], []):
            refused = home.run("up", *BARE, "--ephemeral", "--port", port, *mode)
            one_sentence(refused, 3, f"cannot listen on port {port}: address already in use")

    assert json.loads(home.run("list", "-o", "json").stdout) == []
    assert not home.kubeconfig.exists()


def test_the_port_that_was_asked_for_is_taken(home: Home, up: Up) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    up("--ephemeral", "--port", str(port))

    assert home.process().url == f"https://127.0.0.1:{port}"


def foreign(data: Path) -> None:
    data.mkdir()
    (data / "thesis.tex").write_text("mine")


def a_file(data: Path) -> None:
    data.write_text("mine")


def other_format(data: Path) -> None:
    data.mkdir()
    (data / "windtunnel.json").write_text('{"format": 99, "cluster": "x"}')


FOREIGN = {
    "somebody's folder": (foreign, "is not a Windtunnel data folder (it holds thesis.tex)"),
    "a file": (a_file, "is not a folder"),
    "a folder of another version": (other_format, "has format 99"),
}


@pytest.mark.parametrize(("make", "said"), FOREIGN.values(), ids=FOREIGN)
def test_a_data_folder_is_refused_when_it_is(
    home: Home, make: Callable[[Path], None], said: str
) -> None:
    data = home.path / "data"
    make(data)

    one_sentence(home.run("up", "--detach", "--data-dir", str(data)), 4, said)


def truncate(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:5000])


def overwrite(database: Path) -> None:
    database.write_bytes(b"not a database at all" * 1000)


def another_schema(database: Path) -> None:
    database.unlink()
    with sqlite3.connect(database) as connection:
        connection.execute("create table photos (name text)")


@pytest.mark.parametrize("damage", [truncate, overwrite, another_schema])
def test_a_damaged_database_is_refused_and_left_as_it_is(
    up: Up, damage: Callable[[Path], None]
) -> None:
    home = up()
    home.client().create("pods", POD)
    home.run("down")
    database = home.folder().default_data / "windtunnel.db"
    for beside in database.parent.glob("windtunnel.db-*"):
        beside.unlink()
    damage(database)
    before = database.read_bytes()

    refused = home.run("up", "--detach")

    one_sentence(refused, 4, str(database))
    assert database.read_bytes() == before


def test_two_clusters_cannot_share_a_data_folder(up: Up) -> None:
    home = up("--name", "a", "--data-dir", "shared-data")

    refused = home.run("up", "--detach", "--name", "b", "--data-dir", "shared-data")

    one_sentence(refused, 4, "is in use by another cluster")
    # What never was must not be listed.
    assert [one["name"] for one in json.loads(home.run("list", "-o", "json").stdout)] == ["a"]


def test_a_cluster_is_taken_up_again_where_its_data_is(up: Up) -> None:
    home = up("--data-dir", "elsewhere")
    home.client().create("pods", POD)
    assert home.run("down").returncode == 0
    stopped = json.loads(home.run("status", "-o", "json").stdout)
    assert stopped["data"] == str(home.path / "elsewhere")

    up()
    assert home.client().get("pods", Key("default", "p"))
    os.kill(home.process().pid, signal.SIGKILL)
    while home.process().alive:
        pass

    up()
    assert home.client().get("pods", Key("default", "p"))
    purged = home.run("down", "--purge").stdout
    assert f"Its data in {home.path / 'elsewhere'} is left as it is." in purged


def test_data_that_has_moved_away_is_missed(up: Up) -> None:
    home = up("--data-dir", "elsewhere")
    home.run("down")
    (home.path / "elsewhere").rename(home.path / "moved")

    one_sentence(home.run("up", "--detach"), 4, "which is not there; say where it is with")

    up("--data-dir", "moved")


def no_database(data: Path) -> None:
    (data / "windtunnel.db").unlink()


def damaged_key(data: Path) -> None:
    (data / "pki" / "sa.key").write_text("nonsense")


DAMAGE = {
    "the database": (no_database, "windtunnel.db is damaged: the cluster's objects are gone"),
    "the key of the tokens": (damaged_key, "sa.key is damaged"),
}


@pytest.mark.parametrize(("damage", "said"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_said_of(up: Up, damage: Callable[[Path], None], said: str) -> None:
    home = up()
    home.run("down")
    damage(home.folder().default_data)

    one_sentence(home.run("up", "--detach"), 4, said)


def test_a_database_that_lost_its_journal_is_no_beginning(up: Up) -> None:
    home = up()
    os.kill(home.process().pid, signal.SIGKILL)
    data = home.folder().default_data
    (data / "windtunnel.db-wal").unlink()

    one_sentence(home.run("up", "--detach"), 4, "is damaged: the cluster's objects are gone")


def test_a_folder_that_is_no_clusters_is_left_alone(home: Home) -> None:
    photos = home.path / "state" / "photos"
    photos.mkdir()
    (photos / "cat.jpg").touch()

    one_sentence(home.run("down", "--name", "photos", "--purge"), 3, "there is no cluster photos")
    one_sentence(home.run("up", "--detach", "--name", "photos"), 4, "(it holds cat.jpg)")
    assert json.loads(home.run("list", "-o", "json").stdout) == []
    assert [entry.name for entry in photos.iterdir()] == ["cat.jpg"]


def test_a_cluster_that_stops_by_itself_leaves_word(up: Up) -> None:
    home = up()
    pod = home.client().create("pods", POD)
    home.run("down")
    with sqlite3.connect(home.folder().default_data / "windtunnel.db") as database:
        database.execute("update versions set body = x'6e6f' where resource = 'pods'")

    home.run("up", *BARE, "--detach")
    for _ in range(200):
        status = json.loads(home.run("status", "-o", "json").stdout)
        if status["state"] == "failed":
            break
    named = f"the stored object {key_of(pod)} of pods is damaged"
    assert named in status["why"], status
    one_sentence(home.run("ledger"), 3, "cluster default stopped by itself: ")


MALFORMED = {
    "a kubeconfig that is no YAML": (["--kubeconfig"], "contexts: [", "is not YAML"),
    "a kubeconfig of another kind": (["--kubeconfig"], "kind: Pod", "its kind is Pod"),
    "a token file with too few fields": (["--token-auth-file"], "a,b", "is malformed"),
}


@pytest.mark.parametrize(("option", "text", "said"), MALFORMED.values(), ids=MALFORMED)
def test_a_file_is_refused_when_it_is(home: Home, option: list[str], text: str, said: str) -> None:
    file = home.path / "file"
    file.write_text(text)

    one_sentence(home.run("up", "--detach", "--ephemeral", *option, str(file)), 2, said)

    assert file.read_text() == text


def test_a_missing_token_file_is_named(home: Home) -> None:
    refused = home.run("up", "--detach", "--token-auth-file", "nowhere.csv")

    one_sentence(refused, 2, "cannot read token file")


def test_ctrl_c_stops_a_cluster_in_the_foreground_cleanly(home: Home) -> None:
    server = home.start("up", *BARE)
    assert server.stderr is not None
    lines = []
    for line in server.stderr:
        lines.append(line)
        if "is up at" in line:
            break
    home.client().create("pods", POD)

    server.send_signal(signal.SIGINT)
    _, rest = server.communicate(timeout=20)

    assert server.returncode == 130
    assert rest.splitlines()[-1].startswith("Cluster default is down; its data is in ")
    assert "Traceback" not in rest
    assert all(line.startswith("time=") for line in lines[:-1])
    assert home.folder().process() is None
    assert not yaml.safe_load(home.kubeconfig.read_text())["contexts"]


def test_a_cluster_whose_output_nobody_reads_stops_all_the_same(home: Home) -> None:
    server = home.start("up", *BARE, "--ephemeral")
    assert server.stderr is not None
    assert any("is up at" in line for line in server.stderr)

    server.stderr.close()
    server.send_signal(signal.SIGINT)

    server.wait(timeout=20)
    assert home.folder().process() is None


def test_a_terminal_that_is_closed_stops_a_cluster_cleanly(home: Home) -> None:
    server = home.start("up", *BARE, "--ephemeral")
    assert server.stderr is not None
    assert any("is up at" in line for line in server.stderr)

    server.send_signal(signal.SIGHUP)
    server.communicate(timeout=20)

    assert home.folder().process() is None
    assert not yaml.safe_load(home.kubeconfig.read_text())["contexts"]


@pytest.mark.parametrize("after", [0.05, 0.1, 0.2, 0.3, 0.45, 0.6])
@pytest.mark.parametrize("mode", ["--detach", "--ephemeral"])
def test_ctrl_c_at_any_moment_leaves_nothing_behind(home: Home, after: float, mode: str) -> None:
    starting = home.start("up", *BARE, mode)
    try:
        starting.wait(after)
    except subprocess.TimeoutExpired:
        starting.send_signal(signal.SIGINT)
    _, said = starting.communicate(timeout=20)

    if home.folder().process() is not None:
        # It was up before the signal came, and whoever asks is told so.
        assert home.run("status").returncode == 0
        assert home.run("down").returncode == 0
    else:
        # Before our first line runs, the interpreter speaks for itself.
        early = "Traceback" in said and "/windtunnel/" not in said
        # To a shell, death by the signal is 130 too: Python ends so when an exec was interrupted.
        assert early or starting.returncode in (130, -signal.SIGINT), said
        assert early or "Traceback" not in said, said
    assert not home.folder().held
    assert home.folder().process() is None if home.folder().exists else True
    again = home.run("up", *BARE, "--detach")
    assert again.returncode == 0, again.stderr


def test_tokens_of_the_file_are_known(home: Home, up: Up) -> None:
    (home.path / "tokens.csv").write_text('secret,ann,ann-uid,"system:masters"\n')
    up("--ephemeral", "--token-auth-file", "tokens.csv")

    url = home.process().url
    known = home.client_of(Connection(url, token="secret", insecure=True))
    assert known.get("namespaces", Key("", "default"))
    stranger = home.client_of(Connection(url, token="wrong", insecure=True))
    status, _ = stranger.ask("GET", "/api/v1/pods")
    assert status == 401


def test_compact_makes_old_watches_start_over(up: Up) -> None:
    home = up("--ephemeral")
    client = home.client()
    old = client.create("pods", POD)["metadata"]["resourceVersion"]
    client.delete("pods", Key("default", "p"), grace_seconds=0)

    assert home.run("compact").stdout == "Cluster default has forgotten its watch history.\n"

    query = {"watch": "true", "resourceVersion": old, "timeoutSeconds": "1"}
    status, body = client.ask("GET", "/api/v1/pods", query=query)
    assert status == 200
    assert json.loads(body.splitlines()[0])["object"]["code"] == 410


def test_nodes_come_and_go_and_the_ledger_counts_them(up: Up) -> None:
    home = up("--ephemeral", "--nodes", "h100:2x8")

    assert home.run("nodes", "add", "--pool", "a100", "--count", "3", "--gpus", "4",
                    "--product", "NVIDIA-A100-SXM4-40GB").returncode == 0  # fmt: skip
    assert wait_total(home) == 28
    nodes = json.loads(home.run("nodes", "list", "-o", "json").stdout)
    assert [node["name"] for node in nodes] == ["a100-0", "a100-1", "a100-2", "h100-0", "h100-1"]

    assert home.run("nodes", "remove", "a100-1").stdout == "Removed 1 node.\n"
    assert home.run("nodes", "remove", "--pool", "h100").stdout == "Removed 2 nodes.\n"
    assert json.loads(home.run("ledger", "-o", "json").stdout)["nodes"] == {
        "a100-0": 4,
        "a100-2": 4,
    }
    one_sentence(home.run("nodes", "remove", "--pool", "h100"), 2, "there is no pool h100")
    one_sentence(home.run("nodes", "remove", "h100-0"), 2, "there is no node h100-0")


def wait_total(home: Home) -> int:
    for _ in range(20):
        ledger = json.loads(home.run("ledger", "-o", "json").stdout)
        if ledger["allocatable_total"] == 28:
            break
    total: int = ledger["allocatable_total"]
    return total


def test_without_kubectl_there_is_one_sentence(up: Up) -> None:
    home = up("--ephemeral")

    one_sentence(home.run("kubectl", "--", "get", "pods", PATH="/nowhere"), 2, "no kubectl")
