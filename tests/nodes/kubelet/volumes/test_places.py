"""Where a node's paths lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.nodes.kubelet.volumes.failures import VolumeMissing
from windtunnel.nodes.kubelet.volumes.places import HostPlaces, place

PLACES = {
    "/var/lib/runai/bin/nvidia-smi": "/n/var/lib/runai/bin/nvidia-smi",
    "/var/lib": "/n/var/lib",
    "/var/library": "/var/library",
    "/var/run/x": "/n/run/x",
    "/run": "/n/run",
    "/etc/cdi/a.yaml": "/n/etc/cdi/a.yaml",
    "/etc": "/etc",
    "/var/lib/../log": "/n/var/log",
    "/var/lib/../..": "/",
    "/runai": "/n/runai",
}


@pytest.mark.parametrize(("path", "want"), PLACES.items())
def test_where_a_path_lies(path: str, want: str) -> None:
    assert place(path, "/n") == want


def test_folders_and_files_are_made_where_the_type_says_so(tmp_path: Path) -> None:
    places = HostPlaces(tmp_path)

    assert places.provide("/var/lib/a/b", "DirectoryOrCreate").is_dir()
    assert places.provide("/var/lib/a/f", "FileOrCreate").is_file()
    assert not places.provide("/var/lib/none", "").exists()
    assert places.provide("/dev/null", "CharDevice") == Path("/dev/null")


WRONG = {
    "Directory": "hostPath type check failed: /var/lib/x is not a directory",
    "File": "hostPath type check failed: /var/lib/x is not a file",
    "Socket": "hostPath type check failed: /var/lib/x is not a socket file",
    "CharDevice": "hostPath type check failed: /var/lib/x is not a character device",
    "BlockDevice": "hostPath type check failed: /var/lib/x is not a block device",
}


@pytest.mark.parametrize(("kind", "words"), WRONG.items())
def test_what_is_not_of_its_type(tmp_path: Path, kind: str, words: str) -> None:
    with pytest.raises(VolumeMissing) as failed:
        HostPlaces(tmp_path).provide("/var/lib/x", kind)

    assert str(failed.value) == words


def test_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    places = HostPlaces(tmp_path)
    places.provide("/runai", "DirectoryOrCreate")
    places.provide("/runai/f", "FileOrCreate")

    with pytest.raises(VolumeMissing, match="is not a directory"):
        places.provide("/runai/f", "DirectoryOrCreate")
