"""Three ways to change an object by a document: JSON patch, merge patch, strategic merge patch.

Each is a pure function from a tree and a patch to the patched tree; what is handed in may be used
up. Server-side apply, the fourth way, has ownership to think of and lives in ``machinery.apply``.
"""

from windtunnel.machinery.patches.json_patch import json_patch
from windtunnel.machinery.patches.merge import merge_patch
from windtunnel.machinery.patches.refusals import PatchFailed, go_text
from windtunnel.machinery.patches.strategic import strategic_patch

__all__ = ["PatchFailed", "go_text", "json_patch", "merge_patch", "strategic_patch"]
