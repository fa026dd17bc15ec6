"""Render the chart once, with the real helm, for clusters that install it without helm.

Usage: python charts/render.py HELM

Writes what ``up`` applies, and what it keeps so that helm takes the release for one of its own, to
package data (``gpu/chart/rendered.json.gz``). A test says when that is stale.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from windtunnel.gpu.chart import NAMESPACE, RELEASE, RENDERED, VALUES
from windtunnel.kinds import builtin_kinds

CHART = Path(__file__).resolve().parent / "windtunnel"
_APART = {"key": "type", "operator": "NotIn", "values": ["kwok"]}
SEEN = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [_APART]}]
            }
        }
    }
}
"""What the chart sees for itself where it is rendered in a cluster whose nodes may be played."""


def render(helm: str) -> dict[str, Any]:
    """Return {release, objects}: helm's own record, and (resource, object) in its order."""
    values = json.dumps(VALUES | SEEN)
    command = [
        helm, "install", RELEASE, str(CHART), "--namespace", NAMESPACE, "--values", "-",
        "--dry-run=client", "--output", "json",
    ]  # fmt: skip
    done = subprocess.run(command, input=values, capture_output=True, text=True, check=True)
    release = _timeless(json.loads(done.stdout))
    del release["info"]["first_deployed"], release["info"]["last_deployed"]
    release["config"] = VALUES
    crds = [yaml.safe_load(path.read_text()) for path in sorted((CHART / "crds").glob("*.yaml"))]
    rendered = [each for each in yaml.safe_load_all(release["manifest"]) if each]
    plurals = {(kind.api_version, kind.kind): kind for kind in builtin_kinds()}
    objects = []
    for tree in [*crds, *rendered]:
        kind = plurals[tree["apiVersion"], tree["kind"]]
        if kind.namespaced:
            tree["metadata"].setdefault("namespace", NAMESPACE)
        objects.append([kind.resource, tree])
    return {"release": release, "objects": objects}


def _timeless(tree: Any) -> Any:
    """Leave out when files were written: it differs from checkout to checkout."""
    if isinstance(tree, dict):
        kept = {k: v for k, v in tree.items() if k not in ("modtime", "schemamodtime")}
        return {key: _timeless(value) for key, value in kept.items()}
    return [_timeless(each) for each in tree] if isinstance(tree, list) else tree


def main() -> int:
    """Write the package data."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python charts/render.py HELM\n")
        return 2
    text = json.dumps(render(sys.argv[1]), sort_keys=True, separators=(",", ":"))
    RENDERED.write_bytes(gzip.compress(text.encode(), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
