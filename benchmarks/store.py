"""What the store costs: a write, a list, a restart, and memory after 5,000 pods of 4 versions.

The bars: 15 µs a write on the deciding thread; a list of 10,000 is a join of bytes; the whole
process stays under 400 MiB after such a fill, of which this is the store's share.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from windtunnel.kernel import WallClock
from windtunnel.machinery.tree import Key
from windtunnel.store import Store
from windtunnel.store.memory import MemoryBackend
from windtunnel.store.sqlite import SqliteBackend

BODY = b'{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":"' + b"x" * 2500 + b'"}'
PODS, VERSIONS = 5_000, 4


def write(store: Store, name: str) -> None:
    store.put(
        "pods",
        Key("default", name),
        body=lambda _: BODY[:-1] + b"}",
        expected=None,
        uid="0c8e26a1-5e0b-4f0e-9a5b-000000000000",
        labels={"app": "train"},
        fields={"spec.nodeName": "node-1", "status.phase": "Running", "status.podIP": name},
    )


def resident_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def fill(store: Store) -> None:
    began = time.perf_counter()
    for _ in range(VERSIONS):
        for number in range(PODS):
            write(store, f"pod-{number:05d}")
    applied = time.perf_counter() - began
    store.flush()
    durable = time.perf_counter() - began
    count = PODS * VERSIONS
    print(f"  write              {applied / count * 1e6:8.1f} µs")
    print(f"  durable            {count / durable:8.0f} /s")
    print(f"  resident           {resident_mib():8.0f} MiB")


def listing(store: Store) -> None:
    for number in range(PODS, 10_000):
        write(store, f"pod-{number:05d}")
    store.flush()
    began = time.perf_counter()
    body = b",".join([version.body for version in store.list("pods")])
    took = time.perf_counter() - began
    print(f"  list of 10,000     {took * 1e3:8.1f} ms, {len(body) / 1e6:.1f} MB")


def on_disk(path: Path) -> None:
    store = Store(SqliteBackend(path), WallClock())
    fill(store)
    listing(store)
    store.close()
    began = time.perf_counter()
    store = Store(SqliteBackend(path), WallClock())
    print(f"  start              {(time.perf_counter() - began) * 1e3:8.0f} ms")
    began = time.perf_counter()
    for number in range(200):
        write(store, f"one-{number}")
        store.flush()
    print(f"  one durable write  {(time.perf_counter() - began) / 200 * 1e3:8.2f} ms")
    store.close()


def main() -> None:
    # The disk first: what the second store needs is partly there already.
    with tempfile.TemporaryDirectory() as folder:
        print("on disk")
        on_disk(Path(folder) / "state.db")
    print("in memory")
    store = Store(MemoryBackend(), WallClock())
    fill(store)
    listing(store)


if __name__ == "__main__":
    main()
