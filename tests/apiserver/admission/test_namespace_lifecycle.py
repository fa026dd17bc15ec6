from __future__ import annotations

from tests.apiserver.api import Api, config


def test_nothing_is_created_where_there_is_no_namespace(api: Api) -> None:
    assert api.refused("POST", "/api/v1/namespaces/no/configmaps", config("m")) == (
        404,
        'namespaces "no" not found',
    )
    code, text = api.refused("DELETE", "/api/v1/namespaces/kube-system")
    assert code == 403
    assert text.endswith("this namespace may not be deleted")
