"""Make the root filesystem of our agents' image as a folder, without any builder of images.

    python images/rootfs.py FOLDER

Whoever runs this is packed: the running Python with its standard library, this package, the few
packages that agents import, and the machine's busybox as shell and tools. What comes out holds the
same programs as an image of the Containerfile, for the machine's own type. One folder serves all
components; each image only starts another program of ``/bin``.
"""

from __future__ import annotations

import argparse
import compileall
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Final

from windtunnel.assembly.components import AGENTS

PACKAGES: Final = (
    "grpcio", "msgspec", "prometheus-client", "protobuf", "pyyaml", "typing-extensions",
)  # fmt: skip
"""What agents import beside the standard library."""

_LEFT_OUT: Final = (
    "__pycache__", "_tkinter*", "config-*", "dist-packages", "ensurepip", "idlelib", "lib2to3",
    "pydoc_data", "site-packages", "test", "tests", "tkinter", "turtledemo",
)  # fmt: skip
"""Parts of the standard library that no agent needs, and packages of somebody else."""
_HOME: Final = "opt/windtunnel"
_PYTHON: Final = "usr/local/bin/python3"
_SHEBANG: Final = "#!/bin/sh\n"
_LIBRARY: Final = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x", re.MULTILINE)


def make(root: Path, busybox: str) -> None:
    """Fill a folder that does not exist yet."""
    home = root / _HOME
    home.mkdir(parents=True)
    for folder in ("dev", "etc", "proc", "run", "sys", "var/run"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").mkdir(mode=0o1777)
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\n")

    _tools(root / "bin", busybox)
    _python(root)
    for name in PACKAGES:
        _package(name, home)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(_own_package(), home / "windtunnel", ignore=ignored)
    _programs(root)
    _libraries(root)
    _strip(root)
    # Agents have a tenth of a processor: nothing may be left to compile when they start.
    for packages in (root / "usr/local/lib", home):
        compileall.compile_dir(
            packages,
            quiet=2,
            workers=0,
            stripdir=root,
            prependdir="/",
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )


def _own_package() -> Path:
    return Path(sys.modules["windtunnel"].__path__[0])


def _tools(folder: Path, busybox: str) -> None:
    folder.mkdir()
    shutil.copy(busybox, folder / "busybox")
    listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        if name != "busybox":
            (folder / name).symlink_to("busybox")
    # The chart's scripts ask for bash and use nothing of it.
    _program(folder / "bash", _SHEBANG + 'exec /bin/sh "$@"\n')


def _python(root: Path) -> None:
    program = root / _PYTHON
    program.parent.mkdir(parents=True)
    shutil.copy(Path(sys.executable).resolve(), program)
    shutil.copytree(
        sysconfig.get_path("stdlib"),
        root / "usr/local/lib" / f"python{sysconfig.get_python_version()}",
        ignore=shutil.ignore_patterns(*_LEFT_OUT),
    )


def _package(name: str, home: Path) -> None:
    for file in metadata.distribution(name).files or ():
        inside = ".." not in file.parts and "__pycache__" not in file.parts
        if inside and not file.name.endswith(".pyi"):
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(file.locate()), home / file)


def _programs(root: Path) -> None:
    call = f'export PYTHONPATH=/{_HOME}\nexec /{_PYTHON} -m windtunnel "$@"\n'
    _program(root / "bin/windtunnel", _SHEBANG + call)
    _program(root / "bin/agent.sh", (Path(__file__).parent / "agent.sh").read_text())
    for component in AGENTS:
        (root / "bin" / component).symlink_to("agent.sh")
    for component in ("status-exporter", "status-exporter-kwok"):
        (root / "usr/local/bin" / component).symlink_to(f"/bin/{component}")
    _program(root / "bin/nvidia-smi", (_own_package() / "gpu/smi/nvidia-smi.sh").read_text())


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _libraries(root: Path) -> None:
    """Put each shared library where the machine has it, for there the linker looks."""
    loaded = [root / _PYTHON, root / "bin/busybox", *root.rglob("*.so")]
    for library in _linked(loaded):
        target = root / library.lstrip("/")
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
    if Path("/etc/ld.so.cache").exists():
        shutil.copy("/etc/ld.so.cache", root / "etc/ld.so.cache")


def _strip(root: Path) -> None:
    """Take out what is for debuggers only, where the machine has the tool: it is a third."""
    if shutil.which("strip"):
        for file in root.rglob("*.so*"):
            # Whatever cannot be stripped is left as it is.
            subprocess.run(["strip", "--strip-unneeded", file], capture_output=True, check=False)


def _linked(files: Iterable[Path]) -> set[str]:
    # It complains about a static busybox, which needs nothing.
    told = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True, check=False)
    return set(_LIBRARY.findall(told.stdout))


def main() -> None:
    """Make the folder that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the root goes; it must not exist")
    folder = parser.parse_args().folder
    busybox = shutil.which("busybox")
    if busybox is None:
        sys.exit("rootfs: needs busybox on this machine (Debian: busybox-static)")
    if folder.exists():
        sys.exit(f"rootfs: {folder} exists already")
    make(folder, busybox)


if __name__ == "__main__":
    main()
