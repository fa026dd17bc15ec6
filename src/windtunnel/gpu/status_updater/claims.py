"""Which GPUs were allocated to which claims (dynamic resource allocation)."""

from __future__ import annotations

import msgspec

from windtunnel.client import Change
from windtunnel.devices import GPU_DRIVER
from windtunnel.machinery.tree import Key


class _Result(msgspec.Struct):
    driver: str = ""
    device: str = ""


class _Devices(msgspec.Struct):
    results: list[_Result] | None = None


class _Allocation(msgspec.Struct):
    devices: _Devices | None = None


class _Status(msgspec.Struct):
    allocation: _Allocation | None = None


class _View(msgspec.Struct):
    status: _Status | None = None


_decoder = msgspec.json.Decoder(_View)


class Claims:
    """The GPUs of every claim, kept by the changes of claims."""

    def __init__(self) -> None:
        self._found: dict[Key, tuple[str, ...]] = {}

    def take(self, change: Change) -> bool:
        """Take in a change of a claim; return whether its GPUs are others now."""
        before = self._found.get(change.key)
        if change.type == "DELETED":
            self._found.pop(change.key, None)
            return before is not None
        devices = _devices(_decoder.decode(change.body))
        self._found[change.key] = devices
        return devices != before

    def devices(self, namespace: str, names: tuple[str, ...]) -> list[str]:
        """Return the GPUs of some claims.

        Raises:
            ValueError: one of the claims is not there.
        """
        found: list[str] = []
        for name in names:
            devices = self._found.get(Key(namespace, name))
            if devices is None:
                raise ValueError(
                    f"failed to get ResourceClaim {name}: "
                    f'resourceclaims.resource.k8s.io "{name}" not found'
                )
            found += devices
        return found


def _devices(view: _View) -> tuple[str, ...]:
    allocation = view.status.allocation if view.status else None
    results = allocation.devices.results if allocation and allocation.devices else None
    return tuple(result.device for result in results or () if result.driver == GPU_DRIVER)
