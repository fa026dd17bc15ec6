"""A file with a KubeSchedulerConfiguration: read, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.assembly.parts import part_settings
from windtunnel.assembly.scheduler_file import read_scheduler_file
from windtunnel.assembly.settings import Settings
from windtunnel.errors import UsageError

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def test_profiles_reach_the_scheduler(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(HEAD + "profiles:\n- schedulerName: packed\npercentageOfNodesToScore: 70\n")

    settings = Settings(name="a", kubeconfig=Path("k"), scheduler_file=path)
    found = part_settings(settings).scheduler

    assert found is not None
    assert [(one.name, one.rules.percentage) for one in found.profiles] == [("packed", 70)]


def test_without_a_file_the_defaults_hold() -> None:
    assert part_settings(Settings(name="a", kubeconfig=Path("k"))).scheduler is None


REFUSED = {
    "nothing there": (None, "cannot read scheduler configuration .*: No such file"),
    "no text": (b"\xff\xfe\x00", "is malformed: "),
    "no YAML": (b"a: [", "is malformed: yaml: line "),
    "two documents": (HEAD.encode() + b"---\n" + HEAD.encode(), "is malformed: yaml: "),
    "empty": (b"", "holds no KubeSchedulerConfiguration"),
    "a list": (b"- a\n", "holds no KubeSchedulerConfiguration"),
    "another kind": (b"kind: Pod\napiVersion: v1\n", "expected KubeSchedulerConfiguration of"),
    "an unknown field": (HEAD.encode() + b"profile: []\n", "unknown field `profile`"),
    "an unknown plugin": (
        HEAD.encode()
        + b"profiles:\n- plugins:\n    multiPoint:\n      enabled:\n      - name: Magic\n",
        "Magic",
    ),
}


@pytest.mark.parametrize(("content", "said"), REFUSED.values(), ids=REFUSED)
def test_a_bad_file_is_refused_in_one_sentence(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "scheduler.yaml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(UsageError, match=said) as refusal:
        read_scheduler_file(path)

    assert "\n" not in str(refusal.value)
