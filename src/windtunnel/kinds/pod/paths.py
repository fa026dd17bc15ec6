"""Paths inside containers and volumes: relative, and never upwards."""

from __future__ import annotations

from windtunnel.machinery.violations import Violation, invalid


def no_backsteps(path: str, field: str) -> list[Violation]:
    """Judge a path that may not lead upwards."""
    if ".." in path and ".." in path.split("/"):
        return [invalid(field, path, "must not contain '..'")]
    return []


def descending_path(path: str, field: str) -> list[Violation]:
    """Judge a path that stays below where it starts."""
    found = []
    if path.startswith("/"):
        found.append(invalid(field, path, "must be a relative path"))
    return found + no_backsteps(path, field)


def unreserved_path(path: str, field: str) -> list[Violation]:
    """Judge a path inside a projected volume, whose own files start with two dots."""
    found = descending_path(path, field)
    if path.startswith("..") and not path.startswith("../"):
        found.append(invalid(field, path, "must not start with '..'"))
    return found
