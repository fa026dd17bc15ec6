from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.api import Api, obj

GPU = "nvidia.com/gpu"


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": resources}


def limit(api: Api, path: str, **item: Any) -> None:
    api.post(f"{path}/limitranges", obj("v1", "LimitRange", "l", spec={"limits": [item]}))


def test_a_limit_range_fills_in_what_is_not_stated(api: Api, ns: str) -> None:
    limit(api, ns, type="Container", default={GPU: "1"}, defaultRequest={"cpu": "100m"})

    pod = api.pod(ns)
    assert pod["spec"]["containers"][0]["resources"] == {
        "limits": {GPU: "1"},
        "requests": {"cpu": "100m", GPU: "1"},
    }
    assert pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        f"LimitRanger plugin set: cpu, {GPU} request for container c; {GPU} limit for container c"
    )


BOUNDS = {
    "too much": ({"type": "Container", "max": {GPU: 2}}, {"limits": {GPU: 4}},
                 "maximum nvidia.com/gpu usage per Container is 2, but limit is 4"),
    "nothing said": ({"type": "Pod", "max": {"cpu": 2}}, {},
                     "maximum cpu usage per Pod is 2. No limit is specified"),
    "too little": ({"type": "Container", "min": {"cpu": "100m"}}, {"requests": {"cpu": "10m"}},
                   "minimum cpu usage per Container is 100m, but request is 10m"),
    "too far apart": (
        {"type": "Container", "maxLimitRequestRatio": {"cpu": 2}},
        {"limits": {"cpu": 3}, "requests": {"cpu": 1}},
        "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
    ),
    "so far apart that no float holds it": (
        {"type": "Container", "maxLimitRequestRatio": {"memory": 2}},
        {"limits": {"memory": "1e400"}, "requests": {"memory": 1}},
        "memory max limit to request ratio per Container is 2, "
        "but no limit is specified or limit is 0",
    ),
    "beyond 64 bits": ({"type": "Container", "max": {"memory": "1Gi"}},
                       {"limits": {"memory": "99999999999999999999"}},
                       "usage per Container is 1Gi, but limit is 99999999999999999999"),
    "together": ({"type": "Pod", "max": {"memory": "4Gi"}}, {"limits": {"memory": "6Gi"}},
                 "maximum memory usage per Pod is 4Gi, but limit is 6Gi"),
}  # fmt: skip


@pytest.mark.parametrize(("item", "resources", "words"), BOUNDS.values(), ids=BOUNDS)
def test_a_limit_range_bounds(
    api: Api, ns: str, item: dict[str, Any], resources: dict[str, Any], words: str
) -> None:
    limit(api, ns, **item)
    pod = obj("v1", "Pod", "p", spec={"containers": [container(**resources)]})

    code, text = api.refused("POST", f"{ns}/pods", pod)
    assert code == 403
    assert words in text


def test_a_limit_range_bounds_claims(api: Api, ns: str) -> None:
    limit(api, ns, type="PersistentVolumeClaim", max={"storage": "1Gi"})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}}

    claim = obj("v1", "PersistentVolumeClaim", "c", spec=spec)
    assert "but request is 5Gi" in api.refused("POST", f"{ns}/persistentvolumeclaims", claim)[1]
