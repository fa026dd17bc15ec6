"""The small language in which stages say when and what, compiled once to closures.

Tests (``when``) map a path to what must be found there; all must hold:

    status.phase: [Pending]                   one of these values
    status.conditions[Ready].status: {not: ["True"]}    none of these (or nothing at all)
    metadata.deletionTimestamp: exists        anything; ``absent`` is the opposite
    item.name: {same: metadata.annotations[x]}          the value at another path, if there is one

Templates are trees in which some values are rendered:

    $status.podIP        the value at a path of the object; ``$item.…`` inside $each; a name that
                         the player knows (``$now``, ``$podIP``); ``$$`` writes a ``$``
    {$first: [a, b]}     the first alternative that gives something
    {$each: path, $give: template}            a list with one rendering an item
    {$if: tests, $then: a, $else: b}          one of two; tests may look at ``item``
    {$join: [a, b]}      one list of several
    {$number: a}         a whole number, made from text where it must be

What gives nothing is left out of the map or list around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from windtunnel.nodes.played.paths import Path, compile_path, compile_value, is_single


class Scene(NamedTuple):
    """What a template may see."""

    tree: Any
    """The object."""
    names: Mapping[str, Any]
    """What the player knows by name."""
    item: Any = None
    """The present item inside ``$each``."""


Test = Callable[[Any], bool]
Template = Callable[[Scene], Any]
"""Returns the rendering, or None for nothing."""

NAMES: Final = ("now", "hostIP", "hostIPs", "podIP", "podIPs", "nodeIP", "version")


def paths_of(tests: Mapping[str, Any]) -> set[str]:
    """Return every path that these tests look at."""
    others = {wanted["same"] for wanted in tests.values() if isinstance(wanted, dict)
              and "same" in wanted}  # fmt: skip
    return others | set(tests)


def compile_tests(tests: Mapping[str, Any]) -> Test:
    """Return the conjunction of all tests.

    Raises:
        ValueError: a path or what is asked of it makes no sense.
    """
    compiled = [_test(path, wanted) for path, wanted in tests.items()]

    def holds(tree: Any) -> bool:
        for test in compiled:  # noqa: SIM110 - a generator here costs as much as the tests
            if not test(tree):
                return False
        return True

    return holds


def _test(text: str, wanted: Any) -> Test:
    if wanted in ("exists", "absent"):
        value, there = compile_value(text), wanted == "exists"
        return lambda tree: (value(tree) is not None) is there
    if isinstance(wanted, list):
        return _among(text, wanted)
    if isinstance(wanted, dict) and set(wanted) == {"not"} and isinstance(wanted["not"], list):
        among = _among(text, wanted["not"])
        return lambda tree: not among(tree)
    if isinstance(wanted, dict) and set(wanted) == {"same"} and isinstance(wanted["same"], str):
        path, other = compile_path(text), compile_path(wanted["same"])
        return lambda tree: not (there := other(tree)) or there == path(tree)
    raise ValueError(f"a test is a list, {{not: …}}, {{same: …}}, exists or absent: {wanted!r}")


def _among(text: str, wanted: list[Any]) -> Test:
    values = frozenset(map(_text, wanted))
    if is_single(text):
        value = compile_value(text)
        return lambda tree: (found := value(tree)) is not None and _text(found) in values
    path: Path = compile_path(text)
    return lambda tree: any(_text(found) in values for found in path(tree))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value

    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def compile_template(template: Any) -> Template:
    """Return the function that renders ``template``; each rendering is a fresh tree.

    Raises:
        ValueError: a ``$`` form makes no sense.
    """
    if isinstance(template, str):
        return _compile_text(template)
    if isinstance(template, list):
        parts = [compile_template(part) for part in template]
        return lambda scene: [value for part in parts if (value := part(scene)) is not None]
    if isinstance(template, dict):
        if any(key.startswith("$") for key in template):
            return _compile_form(template)
        return _compile_map(template)
    return lambda scene: template


def _compile_map(template: dict[str, Any]) -> Template:
    # What never changes is copied at once, with a place for each of the others, in order.
    plan = {key: value if _is_constant(value) else None for key, value in template.items()}
    parts = [(key, compile_template(value)) for key, value in template.items() if plan[key] is None]

    def render(scene: Scene) -> Any:
        rendered = plan.copy()
        for key, part in parts:
            value = part(scene)
            if value is None:
                del rendered[key]
            else:
                rendered[key] = value
        return rendered

    return render


def _is_constant(template: Any) -> bool:
    return not isinstance(template, (dict, list)) and not str(template).startswith("$")


def _compile_text(text: str) -> Template:
    if text.startswith("$$"):
        literal = text[1:]
        return lambda scene: literal
    if not text.startswith("$"):
        return lambda scene: text
    name = text[1:]
    if name in NAMES:
        return lambda scene: scene.names[name]
    if name == "item":
        return lambda scene: scene.item
    if name.startswith("item."):
        of_item = compile_value(name.removeprefix("item."))
        return lambda scene: of_item(scene.item)
    value = compile_value(name)
    return lambda scene: value(scene.tree)


def _compile_form(form: dict[str, Any]) -> Template:
    keys = set(form)
    if keys == {"$first"}:
        return _first([compile_template(each) for each in form["$first"]])
    if keys == {"$each", "$give"}:
        return _each(compile_path(form["$each"]), compile_template(form["$give"]))
    if keys in ({"$if", "$then"}, {"$if", "$then", "$else"}):
        return _choice(
            compile_tests(form["$if"]),
            compile_template(form["$then"]),
            compile_template(form.get("$else")),
        )
    if keys == {"$join"}:
        return _join([compile_template(each) for each in form["$join"]])
    if keys == {"$number"}:
        return _number(compile_template(form["$number"]))
    raise ValueError(f"unknown form with keys {sorted(keys)}")


def _first(parts: list[Template]) -> Template:
    def render(scene: Scene) -> Any:
        for part in parts:
            value = part(scene)
            if value not in (None, ""):
                return value
        return None

    return render


def _each(path: Path, give: Template) -> Template:
    def render(scene: Scene) -> Any:
        found = path(scene.tree)
        items = found[0] if len(found) == 1 and isinstance(found[0], list) else found
        rendered = [give(Scene(scene.tree, scene.names, item)) for item in items]
        return [value for value in rendered if value is not None] or None

    return render


def _choice(test: Test, then: Template, otherwise: Template) -> Template:
    def render(scene: Scene) -> Any:
        judged = scene.tree if scene.item is None else {"item": scene.item, **scene.tree}
        return (then if test(judged) else otherwise)(scene)

    return render


def _join(parts: list[Template]) -> Template:
    def render(scene: Scene) -> Any:
        return [value for part in parts for value in part(scene) or ()]

    return render


def _number(part: Template) -> Template:
    def render(scene: Scene) -> Any:
        try:
            return int(part(scene))
        except (TypeError, ValueError):
            return None

    return render
