"""Kubeconfig files: reading one connection, adding and taking back one context.

Everything that is not ours stays as it was: entries are told apart by name, unknown fields and the
order are kept. What YAML does not carry through is lost (comments, anchors, quoting style), so a
file is only rewritten when something in it really changes. Writing is atomic: a file of mode 600
takes the place of the old one, under a lock that kubectl honours too (``<file>.lock``). What is not
a plain file, is read-only, or knows another cluster by our name is refused.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from windtunnel.client.connection import Connection
from windtunnel.errors import UsageError

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

LOCK_PATIENCE_SECONDS: Final = 2.0
"""Writers hold the lock for an instant; one that was left behind is there for good."""
OWN_ADDRESS: Final = "https://127.0.0.1:"
"""How the addresses of all our clusters begin."""


def default_path() -> Path:
    """Return the file kubectl would write to: the first of ``$KUBECONFIG``, or the usual one."""
    for part in os.environ.get("KUBECONFIG", "").split(os.pathsep):
        if part:
            return Path(part)
    return Path.home() / ".kube" / "config"


def entry(name: str, connection: Connection) -> dict[str, Any]:
    """Return a whole kubeconfig with one cluster, user and context, all of this name."""
    cluster: dict[str, Any] = {"server": connection.server}
    if connection.ca:
        cluster["certificate-authority-data"] = base64.b64encode(connection.ca).decode()
    user: dict[str, Any] = {}
    if connection.token:
        user["token"] = connection.token
    if connection.certificate:
        user["client-certificate-data"] = base64.b64encode(connection.certificate).decode()
        user["client-key-data"] = base64.b64encode(connection.key).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }


def merged(config: dict[str, Any], addition: dict[str, Any]) -> dict[str, Any]:
    """Return ``config`` with the entries of ``addition`` put in, replacing those of the same name.

    The current context is set only where there is none: whoever works on another cluster in another
    terminal must not find himself on ours.
    """
    result = dict(config)
    for field in ("apiVersion", "kind"):
        result.setdefault(field, addition[field])
    for section in ("clusters", "users", "contexts"):
        mine = {item["name"]: item for item in addition[section]}
        kept = [mine.pop(item.get("name"), item) for item in result.get(section) or []]
        result[section] = [*kept, *mine.values()]
    if not result.get("current-context"):
        result["current-context"] = addition["current-context"]
    return result


def without(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return ``config`` with the cluster, user and context of this name taken out."""
    result = dict(config)
    for section in ("clusters", "users", "contexts"):
        if result.get(section):
            result[section] = [item for item in result[section] if item.get("name") != name]
    if result.get("current-context") == name:
        result["current-context"] = ""
    return result


def read(path: Path) -> dict[str, Any]:
    """Return the file as a tree; one that is missing or empty is an empty one.

    Raises:
        UsageError: the file cannot be read or is no kubeconfig.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"kubeconfig {path} is not a file")
        text = path.read_text()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read kubeconfig {path}: {_why(error)}") from error
    try:
        config = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise UsageError(f"kubeconfig {path} is not YAML: {_first_line(error)}") from error
    if config is None:
        return {}
    flaw = _flaw(config)
    if flaw:
        raise UsageError(f"{path} is not a kubeconfig: {flaw}")
    checked: dict[str, Any] = config
    return checked


def add_context(path: Path, name: str, connection: Connection) -> None:
    """Put the context ``name`` into the file.

    Raises:
        UsageError: the file cannot be read or written, is no kubeconfig, or knows another cluster
            by this name; it is left as it is.
    """
    addition = entry(name, connection)
    with _locked(path):
        config = read(path)
        check(path, config, name)
        _replace(path, config, merged(config, addition))


def check(path: Path, config: dict[str, Any], name: str) -> None:
    """See that the file has no cluster of this name that is somebody else's.

    Ours are served on this machine only; an address elsewhere is not one of ours.

    Raises:
        UsageError: it has one.
    """
    server = _server(config, name)
    if server and not server.startswith(OWN_ADDRESS):
        raise UsageError(
            f"kubeconfig {path} knows another cluster as {name} ({server}); "
            "rename that one, or choose another --name or --kubeconfig"
        )


def remove_context(path: Path, name: str) -> None:
    """Take the context ``name`` out of the file; harmless where it is not.

    Raises:
        UsageError: the file cannot be read or written, or is no kubeconfig; it is left as it is.
    """
    if not (path.exists() and _is_ours(read(path), name)):
        return  # and wait for nobody who writes there
    with _locked(path):
        config = read(path)
        if _is_ours(config, name):
            _replace(path, config, without(config, name))


def _is_ours(config: dict[str, Any], name: str) -> bool:
    return _server(config, name).startswith(OWN_ADDRESS)


def connection(path: Path, context: str = "") -> Connection:
    """Return how the file's context (by default the current one) is reached.

    Raises:
        UsageError: there is no such context, or it needs a way to log in that is not known here.
    """
    config = read(path)
    chosen = context or config.get("current-context") or ""
    if not chosen:
        raise UsageError(f"kubeconfig {path} has no current context")
    link = _named(config, "contexts", "context", chosen, path)
    cluster = _named(config, "clusters", "cluster", str(link.get("cluster")), path)
    user = _named(config, "users", "user", str(link.get("user")), path) if link.get("user") else {}
    for way in ("exec", "auth-provider", "username"):
        if way in user:
            raise UsageError(
                f"context {chosen} in {path} logs in by {way}, which is not known here"
            )
    token = str(user.get("token") or "")
    token_file = None
    if not token and user.get("tokenFile"):
        _file(path, user["tokenFile"])  # one that cannot be read is refused here
        token_file = path.parent / user["tokenFile"]
    return Connection(
        server=str(cluster.get("server") or ""),
        ca=_pem(path, cluster, "certificate-authority"),
        certificate=_pem(path, user, "client-certificate"),
        key=_pem(path, user, "client-key"),
        token=token,
        token_file=token_file,
        tls_server_name=str(cluster.get("tls-server-name") or ""),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        namespace=str(link.get("namespace") or "default"),
    )


def _flaw(config: Any) -> str:
    if not isinstance(config, dict):
        return "it holds no mapping"
    if config.get("kind") not in (None, "Config"):
        return f"its kind is {config['kind']}, not Config"
    for section in ("clusters", "users", "contexts"):
        items = config.get(section) or []
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            return f"{section} is not a list of mappings"
    return ""


def _server(config: dict[str, Any], name: str) -> str:
    """Return the address of the cluster of this name; "" where there is none."""
    for item in config.get("clusters") or []:
        if item.get("name") == name:
            return str((item.get("cluster") or {}).get("server") or "")
    return ""


def _named(config: dict[str, Any], section: str, field: str, name: str, path: Path) -> Any:
    for item in config.get(section) or []:
        if item.get("name") == name:
            return item.get(field) or {}
    raise UsageError(f"kubeconfig {path} has no {field} {name}")


def _pem(path: Path, place: dict[str, Any], field: str) -> bytes:
    inline = place.get(f"{field}-data")
    if inline:
        try:
            return base64.b64decode(inline, validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise UsageError(f"{field}-data in kubeconfig {path} is not base64") from error
    return _file(path, place[field]) if place.get(field) else b""


def _file(path: Path, name: str) -> bytes:
    # Relative names are relative to the kubeconfig, as kubectl reads them.
    target = path.parent / name
    try:
        return target.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read {target}, named in kubeconfig {path}: {_why(error)}"
        ) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold ``<file>.lock``, which exists while somebody writes (the way client-go locks)."""
    lock = path.with_name(path.name + ".lock")
    pause = threading.Event()
    tries = int(LOCK_PATIENCE_SECONDS / 0.05)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in range(tries, -1, -1):
            try:
                os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                break
            except FileExistsError:
                if not left:
                    raise UsageError(
                        f"kubeconfig {path} is locked: {lock} is still there after "
                        f"{LOCK_PATIENCE_SECONDS:g} s; delete it if nobody writes"
                    ) from None
                pause.wait(0.05)
    except OSError as error:
        raise UsageError(f"cannot write kubeconfig {path}: {_why(error)}") from error
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _replace(path: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    if after == before:
        return
    # A link (to a file kept under version control, say) stays a link.
    target = path.resolve()
    try:
        if target.exists() and not target.stat().st_mode & stat.S_IWUSR:
            raise UsageError(f"cannot write kubeconfig {path}: it is read-only")
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w") as file:
                yaml.dump(after, file, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write kubeconfig {path}: {_why(error)}") from error


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
