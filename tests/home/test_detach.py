"""A detached process says through a pipe that it serves, or why it does not.

Each case runs in a Python of its own: a test process may have threads, which a fork must not have.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PRELUDE = """
import os, signal, sys, time
from pathlib import Path
from windtunnel.home.detach import detached
from windtunnel.home.process import Process, birth
from windtunnel.errors import WindtunnelError, ClusterError
log = Path(sys.argv[1])
def me():
    return Process(os.getpid(), birth(os.getpid()), "https://x", "k", "")
def wait():
    signal.sigwait({signal.SIGTERM})
"""

READY = """
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
def serve(ready):
    print("hello from the child", flush=True)
    ready(me())
    wait()
process = detached(serve, log)
assert process.alive and process.pid != os.getpid()
assert os.getsid(process.pid) == process.pid
assert process.end() and not process.alive
print(log.read_text().strip())
"""

REFUSED = """
def serve(ready):
    raise ClusterError("the port is taken")
try:
    detached(serve, log)
except WindtunnelError as error:
    print(error, error.exit_code)
"""

DIED = """
def serve(ready):
    os._exit(9)
try:
    detached(serve, log)
except ClusterError as error:
    print(error)
"""

FULL = """
def serve(ready):
    raise OSError(28, "No space left on device", "/x/windtunnel.db")
try:
    detached(serve, log)
except WindtunnelError as error:
    print(error, error.exit_code)
"""

BUG = """
def serve(ready):
    raise ZeroDivisionError("a bug")
try:
    detached(serve, log)
except ClusterError as error:
    print("ZeroDivisionError: a bug" in log.read_text())
"""

INTERRUPTED = """
def serve(ready):
    log.write_text(str(os.getpid()))
    os.kill(os.getppid(), signal.SIGINT)
    signal.pause()
try:
    detached(serve, log)
except KeyboardInterrupt:
    try:
        os.kill(int(log.read_text()), 0)
    except ProcessLookupError:
        print("the child is gone")
"""

LATE = """
def serve(ready):
    ready(me())
    raise ClusterError("the disk is full")
process = detached(serve, log)
while process.alive:
    pass
print(log.read_text().strip())
"""

BOUND = """
middle = os.fork()
if middle == 0:
    def serve(ready):
        signal.signal(signal.SIGTERM, lambda *_: (log.write_text("asked to end"), os._exit(0)))
        ready(me())
        while True:
            signal.pause()
    process = detached(serve, log.with_name("output"), bound=True)
    log.with_name("pid").write_text(str(process.pid))
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(middle, 0)
pid = int(log.with_name("pid").read_text())
end_at = time.monotonic() + 20
said = ""
while not said and time.monotonic() < end_at:
    said = log.read_text() if log.exists() else ""
print(said)
"""

UNWRITABLE = """
log.mkdir()
try:
    detached(lambda ready: None, log)
except WindtunnelError as error:
    print(error, error.exit_code)
"""

CASES = {
    "it serves until it is ended": (READY, "hello from the child"),
    "its refusal is the parent's": (REFUSED, "the port is taken 3"),
    "an unwritable log is refused first": (UNWRITABLE, "cannot write {log}: Is a directory 4"),
    "its silent death is noticed": (DIED, "the cluster did not start; see {log}"),
    "a full disk is said": (FULL, "/x/windtunnel.db: No space left on device 1"),
    "its bug is in the log": (BUG, "True"),
    "an interrupt of the parent ends it too": (INTERRUPTED, "the child is gone"),
    "bound to its parent, it ends with it": (BOUND, "asked to end"),
    "what goes wrong later is in the log": (LATE, "the disk is full"),
}


@pytest.mark.parametrize(("script", "want"), CASES.values(), ids=CASES)
def test_a_detached_process(script: str, want: str, tmp_path: Path) -> None:
    log = tmp_path / "log"

    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + script, str(log)],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert done.stdout.strip() == want.format(log=log), done.stderr
