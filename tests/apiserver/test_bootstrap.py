from __future__ import annotations

from tests.apiserver.api import Api
from windtunnel.apiserver.core import Core
from windtunnel.kinds import Catalogue, builtin_kinds


def test_an_empty_server_is_not_empty(api: Api) -> None:
    def names(path: str) -> list[str]:
        return [item["metadata"]["name"] for item in api.get(path)["items"]]

    assert names("/api/v1/namespaces") == [
        "default", "kube-node-lease", "kube-public", "kube-system",
    ]  # fmt: skip
    assert "cluster-admin" in names("/apis/rbac.authorization.k8s.io/v1/clusterroles")
    assert names("/apis/scheduling.k8s.io/v1/priorityclasses") == [
        "system-cluster-critical", "system-node-critical",
    ]  # fmt: skip
    service = api.get("/api/v1/namespaces/default/services/kubernetes")
    assert service["spec"]["clusterIP"] == "10.96.0.1"


def test_what_was_changed_stays_changed(api: Api) -> None:
    path = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical"
    api.patch(path, {"metadata": {"labels": {"a": "b"}}})
    before = api.store.revision

    Core(api.store, Catalogue(builtin_kinds()), api.clock)

    assert api.store.revision == before
    assert api.get(path)["metadata"]["labels"] == {"a": "b"}
