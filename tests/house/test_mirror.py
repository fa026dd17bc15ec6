"""The tests mirror the tree: whoever knows a module knows where its tests are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE, TESTS = ROOT / "src" / "windtunnel", ROOT / "tests"

OWN_FOLDERS = {"house", "e2e"}
"""Folders of tests that mirror no package."""

TESTED_ELSEWHERE = {
    "__main__.py": "every end-to-end test starts it",
    "errors.py": "a tree of exceptions without behaviour",
    "assembly/node.py": "the end-to-end tests of nodes start it, a replay makes many of it",
    "kinds/served/declared.py": "a declaration without behaviour",
    "fleet/pod_wire.py": "values; tests/fleet/test_pod.py decodes them",
    "store/backend.py": "a protocol without behaviour",
    "store/refusals.py": "exceptions without behaviour",
    "scheduler/waiting.py": "values; the tests of queue and pool move them",
    "client/protocol.py": "a protocol without behaviour",
    "client/proven.py": "tests/client/test_transport.py reaches servers of other names",
    "controllers/controller.py": "a protocol, and two functions that every controller's test runs",
    "controllers/settings.py": "a value without behaviour",
    "controllers/views.py": "values; every controller's test decodes them",
    "controllers/budget/views.py": "values; the tests of their controller decode them",
    "controllers/cronjob/views.py": "values; the tests of their controller decode them",
    "controllers/daemonset/views.py": "values; the tests of their controller decode them",
    "controllers/deployment/views.py": "values; the tests of their controller decode them",
    "controllers/job/views.py": "values; the tests of their controller decode them",
    "controllers/endpoints/views.py": "values; the tests of their controllers decode them",
    "controllers/node/views.py": "values; the tests of their controller decode them",
    "controllers/statefulset/views.py": "values; the tests of their controller decode them",
    "nodes/kubelet/streams/containers.py": "the tests of programs, logs and forwarding ask it",
    "nodes/kubelet/streams/http.py": "every test of streams; rubbish in test_api.py",
    "nodes/kubelet/streams/telling.py": "tests/nodes/kubelet/streams/test_api.py",
    "nodes/kubelet/ground.py": "a value without behaviour",
    "nodes/kubelet/settings.py": "a value without behaviour",
    "nodes/kubelet/pods/failures.py": "exceptions without behaviour",
    "nodes/kubelet/pods/images.py": "tests/nodes/kubelet/pods/test_starting.py",
    "nodes/kubelet/pod_records.py": "tests/nodes/kubelet/pods/test_plan.py",
    "nodes/played/settings.py": "a value without behaviour",
    "apiserver/plugin_names.py": "tests/assembly/test_settings.py",
    "cli/agent.py": "tests/assembly/test_agent.py; only its help is ever seen",
    "cli/options.py": "declarations; the help snapshot has them",
    "assembly/cluster.py": "tests/e2e starts it for everything",
    "assembly/serve.py": "tests/e2e starts it for everything",
    "assembly/start.py": "tests/e2e starts it for everything",
    "assembly/parts.py": "tests/assembly/test_virtual.py, and every test of controllers",
    "cli/up.py": "tests/e2e/test_life.py",
    "cli/down.py": "tests/e2e/test_life.py",
    "cli/status.py": "tests/e2e/test_life.py",
    "cli/list.py": "tests/e2e/test_life.py",
    "cli/compact.py": "tests/e2e/test_life.py",
    "cli/nodes.py": "tests/e2e/test_life.py",
    "cli/ledger.py": "tests/e2e/test_life.py",
    "cli/demo/device_path.py": "tests/e2e/test_demo.py",
    "cli/demo/fleet.py": "tests/e2e/test_demo.py",
    "cli/demo/show.py": "tests/e2e/test_demo.py",
    "cli/conformance.py": "tests/parity/test_api.py",
    "home/lock.py": "tests/home/test_folder.py and test_storage.py",
    "home/reach.py": "tests/home/test_condition.py",
    "parity/own_server.py": "tests/parity/test_api.py",
}
"""Modules without a test file of their own, and why."""


def modules() -> list[Path]:
    return sorted(
        path.relative_to(SOURCE)
        for path in SOURCE.rglob("*.py")
        if path.name != "__init__.py" and path.read_text().strip()
    )


def test_every_test_file_belongs_to_a_module_or_package() -> None:
    orphans = []
    for path in sorted(TESTS.rglob("test_*.py")):
        place = path.relative_to(TESTS)
        if place.parts[0] in OWN_FOLDERS:
            continue
        subject = place.with_name(place.name.removeprefix("test_"))
        package = SOURCE / subject.with_suffix("")
        # test_<module>_<behaviour>.py splits a long test file by behaviour.
        stems = ["_".join(subject.stem.split("_")[:n]) for n in range(1, 9)]
        candidates = [SOURCE / subject.with_name(f"{stem}.py") for stem in stems]
        packages = [package, *(SOURCE / subject.with_name(stem) for stem in stems)]
        if not any(c.is_file() for c in candidates) and not any(p.is_dir() for p in packages):
            orphans.append(str(place))

    assert orphans == []


def test_every_module_has_a_test_file_or_a_reason() -> None:
    bare = []
    for module in modules():
        if str(module) in TESTED_ELSEWHERE:
            continue
        folder = TESTS / module.parent
        own = list(folder.glob(f"test_{module.stem}*.py"))
        # A package of small rules may be tested as one: tests/<folder>/test_<package>.py.
        package = TESTS / module.parent.parent / f"test_{module.parent.name}.py"
        if not own and not package.is_file():
            bare.append(str(module))

    assert bare == []


def test_reasons_are_given_only_for_what_exists_and_is_bare() -> None:
    stale = [
        name
        for name in TESTED_ELSEWHERE
        if not (SOURCE / name).is_file()
        or (TESTS / Path(name).parent / f"test_{Path(name).stem}.py").is_file()
    ]

    assert stale == []
