"""The catalogue: which kinds are served now, found by path, by kind or by resource name.

Built-in kinds come first, in the order in which the real server's discovery lists them; kinds that
definitions declare at run time follow, group by group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from windtunnel.kinds.served.kind import Kind

_KUBE_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")


def version_rank(version: str) -> tuple[int, int, int, int, str]:
    """Return a sort key that puts the preferred version first: v2, v1, v1beta1, v1alpha1."""
    shape = _KUBE_VERSION.fullmatch(version)
    if shape is None:
        return (1, 0, 0, 0, version)
    major, stage, minor = shape.groups()
    maturity = {None: 0, "beta": 1, "alpha": 2}[stage]
    return (0, maturity, -int(major), -int(minor or 0), version)


class Catalogue:
    """All kinds that are served, in order. Adding and removing is cheap but not hot."""

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self._by_path: dict[tuple[str, str, str], Kind] = {}
        self._versions: dict[str, list[Kind]] = {}
        self._generation = 0
        for kind in kinds:
            self.add(kind)

    @property
    def generation(self) -> int:
        """Grows with every change: what is derived from the catalogue may be kept until then."""
        return self._generation

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._by_path.values())

    def __len__(self) -> int:
        return len(self._by_path)

    def by_path(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind under ``/apis/group/version/plural``."""
        return self._by_path.get((group, version, plural))

    def by_resource(self, resource: str) -> Kind:
        """Return the kind named ``deployments.apps``, in the preferred version unless one is given.

        Raises:
            KeyError: No such resource is served.
        """
        if "/" in resource:
            name, _, version = resource.partition("/")
            plural, _, group = name.partition(".")
            return self._by_path[group, version, plural]
        return self._versions[resource][0]

    def add(self, kind: Kind) -> None:
        """Serve a kind; one that is served already under the same path is replaced."""
        if kind.custom:
            self.remove(kind)
        self._by_path[kind.group, kind.version, kind.plural] = kind
        versions = self._versions.setdefault(kind.resource, [])
        versions.append(kind)
        if kind.custom:
            versions.sort(key=lambda each: version_rank(each.version))
        self._generation += 1

    def remove(self, kind: Kind) -> None:
        """Serve a kind no longer. Harmless where it is not served."""
        served = self._by_path.pop((kind.group, kind.version, kind.plural), None)
        if served is None:
            return
        versions = self._versions[kind.resource]
        versions.remove(served)
        if not versions:
            del self._versions[kind.resource]
        self._generation += 1

    def groups(self) -> dict[str, dict[str, list[Kind]]]:
        """Return kinds by group and version, in the order in which discovery lists them."""
        found: dict[str, dict[str, list[Kind]]] = {}
        late: dict[str, dict[str, list[Kind]]] = {}
        for kind in self._by_path.values():
            place = late if kind.custom and kind.group not in found else found
            place.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
        for group in sorted(late):
            versions = sorted(late[group], key=version_rank)
            found[group] = {
                version: sorted(late[group][version], key=lambda each: each.plural)
                for version in versions
            }
        return found
