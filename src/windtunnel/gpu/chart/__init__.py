"""The operator's Helm chart, and its installation into a cluster that has no helm.

The chart itself lies in ``windtunnel`` beside this module. What it renders to is made ahead
(``charts/render.py``), so that a cluster has its operator without a template language; helm finds
the release as if it had installed it, and may upgrade, roll back and uninstall it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

RELEASE: Final = "gpu-operator"
NAMESPACE: Final = "gpu-operator"
VALUES: Final[dict[str, Any]] = {"runtimeClass": {"enabled": False}}
"""What the release of a fresh cluster is given: the node brings RuntimeClass nvidia itself."""
FOLDER: Final = Path(__file__).parent
CHART: Final = FOLDER / "windtunnel"
RENDERED: Final = FOLDER / "rendered.json.gz"
