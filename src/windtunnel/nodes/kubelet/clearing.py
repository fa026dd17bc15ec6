"""What is left of pods that are gone, and its removal: containers, volumes, files, memories."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Final

from windtunnel.nodes.kubelet.ground import Ground
from windtunnel.nodes.kubelet.probes.prober import Prober

_ORPHAN_SECONDS: Final = 2.0


class Clearing:
    """Removes what pods have left on one node."""

    def __init__(self, ground: Ground, prober: Prober) -> None:
        self._ground, self._prober = ground, prober

    def forget(self, uid: str) -> None:
        """Remove every trace of a pod that is gone."""
        ground = self._ground
        self._prober.leave(uid)
        ground.crashes.forget(uid)
        ground.pulls.forget(uid)
        ground.sandboxes.forget(uid)
        ids = self._containers(uid)
        for each in ids:
            self._prober.forget(each)
            ground.stopped.discard(each)
        ground.outside.call(partial(self._remove, uid, ids))

    def unmount_others(self, known: Collection[str], then: Callable[[], None]) -> None:
        """Remove what an earlier node has mounted for pods that are not known."""
        here = list(known)
        self._ground.outside.call(
            lambda: self._ground.volumes.unmount_others(here), lambda _: then()
        )

    def stop_others(self, known: Collection[str]) -> None:
        """Stop what runs of pods that went while nobody looked."""
        for uid in {each.pod_uid for each in self._ground.runtime.containers()} - set(known):
            self._ground.outside.call(partial(self._stop, uid, self._containers(uid)))

    def _containers(self, uid: str) -> list[str]:
        return [each.id for each in self._ground.runtime.containers() if each.pod_uid == uid]

    def _stop(self, uid: str, ids: Iterable[str]) -> None:
        for each in ids:
            self._ground.runtime.stop(each, _ORPHAN_SECONDS)
        self._remove(uid, ids)

    def _remove(self, uid: str, ids: Iterable[str]) -> None:
        """Remove containers, logs and files of a pod; blocks."""
        for each in ids:
            record = self._ground.runtime.record(each)
            self._ground.runtime.remove(each)
            if record is not None:
                shutil.rmtree(record.log_path.parents[1], ignore_errors=True)
        self._ground.volumes.unmount(uid)
        self._ground.files.remove(uid)
