"""What is done for a pod: restarts and their delays, init containers, sidecars."""

from __future__ import annotations

from tests.nodes.kubelet.bench import HOLD, Bench

from windtunnel.machinery.tree import Key


def test_the_first_restart_is_at_once_the_next_ones_wait(bench: Bench) -> None:
    bench.pod("p", {"command": ["exit", "1"]})
    assert bench.state("p")["restartCount"] == 1
    assert bench.events("p")[-1][0] == "BackOff"

    counts = []
    for _ in range(4):
        bench.run(10)
        counts.append(bench.state("p")["restartCount"])

    assert counts == [2, 2, 3, 3]


def test_a_container_in_back_off_says_how_long_when_it_is_looked_at_again(bench: Bench) -> None:
    uid = bench.pod("p", {"command": ["exit", "1"]})
    bench.run(11)
    told = [
        each["containerStatuses"][0]["state"]["waiting"]
        for each in bench.statuses["p"]
        if "CrashLoopBackOff" in str(each)
    ]

    assert told[0]["message"] == (
        f"back-off 10s restarting failed container=main pod=p_default({uid})"
    )


def test_a_container_that_is_added_later_runs_once(bench: Bench) -> None:
    bench.pod("p")
    added = {"name": "look", "image": "there:1", "command": ["sleep", "2", "3"]}
    body = {"spec": {"ephemeralContainers": [added]}}
    bench.world.client.patch("pods", Key("default", "p"), body, subresource="ephemeralcontainers")
    bench.run(1)
    (status,) = bench.status("p")["ephemeralContainerStatuses"]
    assert (status["state"].keys(), "started" in status) == ({"running"}, False)

    bench.run(60)

    (status,) = bench.status("p")["ephemeralContainerStatuses"]
    assert status["state"]["terminated"]["exitCode"] == 3
    assert status["restartCount"] == 0
    assert bench.status("p")["phase"] == "Running"
    assert bench.condition("p", "Ready") == ("True", "")


def test_pull_secrets_that_are_not_there_are_told(bench: Bench) -> None:
    bench.world.create("secrets", "there")
    names = [{"name": name} for name in ("gone", "there", "lost")]
    bench.pod("p", imagePullSecrets=names)

    assert bench.state("p")["state"].keys() == {"running"}
    assert (
        "FailedToRetrieveImagePullSecret",
        "Unable to retrieve some image pull secrets (gone, lost); "
        "attempting to pull the image may not succeed.",
    ) in bench.events("p")


def test_logs_of_the_run_before_are_kept_and_older_ones_are_not(bench: Bench) -> None:
    bench.pod("p", {"command": ["exit", "1"]})
    bench.run(100)
    attempts = [each.attempt for each in bench.runtime.containers()]

    assert len(attempts) == 2
    assert attempts[1] == attempts[0] + 1 == bench.state("p")["restartCount"]


def test_init_containers_run_one_after_the_other(bench: Bench) -> None:
    steps = [
        {"name": "one", "command": ["sleep", "1"]},
        {"name": "two", "command": ["sleep", "1"]},
    ]
    bench.pod("p", initContainers=steps)
    assert [each.name for each in bench.runtime.containers()] == ["one"]
    assert bench.condition("p", "Initialized") == ("False", "ContainersNotInitialized")

    bench.run(1)
    assert [each.name for each in bench.runtime.containers()] == ["one", "two"]

    bench.run(1)
    assert bench.status("p")["phase"] == "Running"
    assert bench.condition("p", "Initialized") == ("True", "")


def test_a_sidecar_ends_after_the_app_and_does_not_keep_the_pod(bench: Bench) -> None:
    side = [{"name": "side", "restartPolicy": "Always", "command": HOLD}]
    bench.pod("p", {"command": ["sleep", "2"]}, initContainers=side, restartPolicy="Never")
    assert bench.status("p")["phase"] == "Running"

    bench.run(3)

    assert bench.status("p")["phase"] == "Succeeded"
    assert bench.events("p")[-1] == ("Killing", "Stopping container side")


def test_a_rule_runs_every_container_anew(bench: Bench) -> None:
    rule = {
        "action": "RestartAllContainers",
        "exitCodes": {"operator": "In", "values": [42]},
    }
    bench.pod(
        "p",
        {"command": ["sleep", "1", "42"], "restartPolicy": "Never", "restartPolicyRules": [rule]},
        {"name": "beside", "command": HOLD},
        initContainers=[{"name": "setup", "command": ["exit", "0"]}],
        restartPolicy="Never",
    )
    bench.run(1.5)

    assert bench.state("p")["restartCount"] == 1
    assert bench.state("p", "beside")["restartCount"] == 1
    assert bench.state("p", "setup")["restartCount"] == 1
    assert bench.status("p")["phase"] == "Running"


def test_of_a_container_s_runs_the_last_two_are_kept_with_their_logs(bench: Bench) -> None:
    bench.pod("p", {"command": ["exit", "0"]})
    for _ in range(4):
        for each in bench.runtime.containers():
            each.log_path.parent.mkdir(parents=True, exist_ok=True)
            each.log_path.touch()
        bench.run(200)

    kept = [each.log_path for each in bench.runtime.containers()]
    assert len(kept) == 2
    assert kept[0].parent.is_dir()
    assert {*kept[0].parent.iterdir()} <= {*kept}
