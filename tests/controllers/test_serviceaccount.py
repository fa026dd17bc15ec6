from tests.world import World

from windtunnel.machinery.tree import Key


def test_every_namespace_gets_an_account_and_the_certificate(world: World) -> None:
    world.create("namespaces", "x", "")
    world.run(0.1)

    assert world.names("serviceaccounts", "x") == ["default"]
    assert world.get("configmaps", "kube-root-ca.crt", "x")["data"] == {"ca.crt": "the certificate"}


def test_what_is_deleted_or_changed_comes_back(world: World) -> None:
    key = Key("default", "kube-root-ca.crt")
    world.client.delete("serviceaccounts", Key("default", "default"))
    world.client.patch("configmaps", key, {"data": {"ca.crt": "forged", "more": "x"}})
    world.run(0.1)

    assert world.names("serviceaccounts") == ["default"]
    assert world.get("configmaps", "kube-root-ca.crt")["data"] == {"ca.crt": "the certificate"}


def test_a_namespace_that_goes_gets_nothing_back(world: World) -> None:
    world.create("namespaces", "x", "")
    world.run(0.1)
    world.client.delete("namespaces", Key("", "x"))
    world.client.delete("serviceaccounts", Key("x", "default"))
    world.run(0.1)

    assert world.names("serviceaccounts", "x") == []
