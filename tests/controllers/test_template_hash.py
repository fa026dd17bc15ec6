from windtunnel.controllers.template_hash import template_hash
from windtunnel.machinery.tree import Tree


def template(image: str) -> Tree:
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"image": image}]}}


def test_the_same_template_gives_the_same_hash_and_a_collision_another() -> None:
    digest = template_hash(template("app:1"), None)

    assert digest == template_hash(dict(reversed(template("app:1").items())), None)
    assert digest != template_hash(template("app:2"), None)
    assert digest != template_hash(template("app:1"), 1)
    assert set(digest) <= set("bcdfghjklmnpqrstvwxz2456789")
