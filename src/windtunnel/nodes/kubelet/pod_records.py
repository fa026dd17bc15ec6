"""What the runtime knows of one pod, ordered for questions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from windtunnel.nodes.kubelet.runtime.protocol import ContainerRecord, ContainerState


@dataclass(frozen=True, slots=True)
class PodRecords:
    """The containers of one pod, the newest of a name first.

    A container that was made and not started yet does not count: whoever made it is about to start
    it, or its start has failed, which its record says.
    """

    by_name: dict[str, tuple[ContainerRecord, ...]]

    @classmethod
    def of(cls, records: Iterable[ContainerRecord]) -> PodRecords:
        """Order the records of one pod."""
        found: dict[str, list[ContainerRecord]] = {}
        for record in records:
            if record.state is not ContainerState.CREATED:
                found.setdefault(record.name, []).append(record)
        return cls(
            {
                name: tuple(sorted(each, key=lambda record: (-record.attempt, -record.created_at)))
                for name, each in found.items()
            }
        )

    def since(self, when: float) -> PodRecords:
        """Return those that were made since a time; the rest is history."""
        kept = {
            name: tuple(each for each in records if each.created_at >= when)
            for name, records in self.by_name.items()
        }
        return PodRecords({name: records for name, records in kept.items() if records})

    def current(self, name: str) -> ContainerRecord | None:
        """Return the newest container of a name."""
        found = self.by_name.get(name)
        return found[0] if found else None

    def previous(self, name: str) -> ContainerRecord | None:
        """Return the one before the newest."""
        found = self.by_name.get(name, ())
        return found[1] if len(found) > 1 else None

    def running(self) -> list[ContainerRecord]:
        """Return the containers that run."""
        return [
            record
            for records in self.by_name.values()
            for record in records
            if record.state is ContainerState.RUNNING
        ]

    def runs(self, name: str) -> bool:
        """Say whether the newest container of a name runs."""
        record = self.current(name)
        return record is not None and record.state is ContainerState.RUNNING

    def all(self) -> list[ContainerRecord]:
        """Return every record."""
        return [record for records in self.by_name.values() for record in records]
