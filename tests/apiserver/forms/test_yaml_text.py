from __future__ import annotations

import pytest

from windtunnel.apiserver.forms.nesting import MOST_LEVELS
from windtunnel.apiserver.forms.yaml_text import MalformedYaml, read_yaml

BOMB = b'a: &a ["l","l","l","l"]\n' + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b",".join([b"*%c" % (letter - 1)] * 8))
    for letter in range(ord("b"), ord("n"))
)
REFUSED = {
    "malformed": (b"a: [", "yaml: line 1: did not find expected node content"),
    "a few lines that spell billions": (BOMB, "yaml: document contains excessive aliasing"),
    "a list in itself": (b"&a [*a]", "yaml: anchor 'a' value contains itself"),
    "an object in itself": (b"a: &x {y: *x}", "yaml: anchor 'x' value contains itself"),
    "an anchor that is not there": (b"x: *z", "yaml: unknown anchor 'z' referenced"),
    "no number": (b"a: .nan", "json: unsupported value: NaN"),
    "an endless number": (b"a: -.inf", "json: unsupported value: -Inf"),
    "too deep": (b"[" * 5000 + b"]" * 5000, f"yaml: exceeded max depth of {MOST_LEVELS}"),
    "too deep without brackets": (b"- " * 900 + b"a", "yaml: exceeded max depth"),
}
READ = {
    "booleans, times and keys": (
        b"a: yes\nb: n\nc: 2026-01-01\n7: x\ntrue: t\n",
        {"a": True, "b": False, "c": "2026-01-01", "7": "x", "true": "t"},
    ),
    "an anchor used again": (b"a: &x {k: 1}\nb: [*x, *x]\n", {"a": {"k": 1}, "b": [{"k": 1}] * 2}),
    "a merged object": (
        b"a: &x {k: 1}\nb: {<<: *x, z: 2}\n",
        {"a": {"k": 1}, "b": {"k": 1, "z": 2}},
    ),
    "bytes": (b"a: !!binary YWJj", {"a": "abc"}),
    "a set": (b"a: !!set {x}", {"a": {"x": None}}),
    "a number too large": (b"a: 1180591620717411303424", {"a": float(2**70)}),
    "nothing": (b"", None),
}


@pytest.mark.parametrize(("text", "words"), REFUSED.values(), ids=REFUSED)
def test_what_json_could_not_say_is_refused(text: bytes, words: str) -> None:
    with pytest.raises(MalformedYaml) as refused:
        read_yaml(text)

    assert words in str(refused.value)


@pytest.mark.parametrize(("text", "value"), READ.values(), ids=READ)
def test_yaml_is_read_as_kubernetes_reads_it(text: bytes, value: object) -> None:
    assert read_yaml(text) == value


def test_what_is_deep_but_not_too_deep_is_read() -> None:
    value = read_yaml(b"[" * MOST_LEVELS + b"]" * MOST_LEVELS)

    for _ in range(MOST_LEVELS - 1):
        (value,) = value
    assert value == []
