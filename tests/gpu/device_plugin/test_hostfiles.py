import os
from pathlib import Path

from windtunnel.gpu.device_plugin.hostfiles import leave_files
from windtunnel.gpu.smi import PROGRAM


def test_an_image_without_nvidia_smi_leaves_ours_and_can_start_it(host: Path) -> None:
    leave_files(host)

    left = host / "runai/bin/nvidia-smi"
    assert left.read_bytes() == PROGRAM.read_bytes()
    assert os.access(left, os.X_OK)
    assert list(left.parent.iterdir()) == [left]


def test_what_the_image_has_is_left_with_its_mode(host: Path) -> None:
    for name in ("bin/nvidia-smi", "shared/pid/preloader.so"):
        (host / name).parent.mkdir(parents=True)
        (host / name).write_text("own")
        (host / name).chmod(0o644)
    leave_files(host)

    assert (host / "runai/bin/nvidia-smi").read_text() == "own"
    assert (host / "runai/bin/nvidia-smi").stat().st_mode & 0o777 == 0o644
    assert (host / "runai/shared/pid/preloader.so").read_text() == "own"
    assert not (host / "runai/shared/memory").exists()


def test_only_what_is_older_is_replaced(host: Path) -> None:
    left = host / "runai/bin/nvidia-smi"
    left.parent.mkdir(parents=True)
    left.write_text("somebody's")
    made = PROGRAM.stat().st_mtime

    os.utime(left, (made + 1, made + 1))
    leave_files(host)
    assert left.read_text() == "somebody's"

    os.utime(left, (made - 1, made - 1))
    leave_files(host)
    assert left.read_bytes() == PROGRAM.read_bytes()
