"""What was recorded of the real server and is packaged: shapes, discovery, columns, objects.

Everything is read at first use and decoded anew for whoever asks, except the schemas, which are
shared and never changed. Source: kube-apiserver v1.36.3, descriptions removed (see NOTICE).
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from windtunnel.machinery.tree import Tree


def _read(name: str) -> bytes:
    recording = files("windtunnel.kinds.served") / "recording"
    return gzip.decompress((recording / f"{name}.json.gz").read_bytes())


def discovery() -> list[Tree]:
    """Return the groups in order of priority, each with its versions and their resources."""
    groups: list[Tree] = msgspec.json.decode(_read("discovery"))
    return groups


def tables() -> dict[str, list[Tree]]:
    """Return the columns of each resource's table by path, ``/api/v1/pods``."""
    columns: dict[str, list[Tree]] = msgspec.json.decode(_read("tables"))
    return columns


def bootstrap() -> dict[str, list[Tree]]:
    """Return the objects of an empty server by their collection's path; the caller owns them."""
    objects: dict[str, list[Tree]] = msgspec.json.decode(_read("bootstrap"))
    return objects


def version() -> Tree:
    """Return the answer to ``/version``."""
    answer: Tree = msgspec.json.decode(_read("version"))
    return answer


@cache
def schemas() -> dict[str, Any]:
    """Return all model schemas by name. Shared: do not change them."""
    models: dict[str, Any] = msgspec.json.decode(_read("schemas"))
    return models


@cache
def model_names() -> dict[tuple[str, str, str], str]:
    """Return the name of the model of each (group, version, kind)."""
    return {
        (gvk["group"], gvk["version"], gvk["kind"]): name
        for name, model in schemas().items()
        for gvk in model.get("x-kubernetes-group-version-kind", ())
    }


@cache
def openapi_paths() -> tuple[str, ...]:
    """Return the paths of the OpenAPI v3 index, ``api/v1`` first among the groups."""
    return tuple(msgspec.json.decode(_read("openapi/index")))


def openapi_document(path: str) -> bytes:
    """Return the OpenAPI v3 document of one path of the index, as JSON."""
    return _read("openapi/" + path.replace("/", "_"))
