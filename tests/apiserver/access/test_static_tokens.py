"""A token file is read as Go reads it: answers of encoding/csv and of kube-apiserver 1.36."""

from __future__ import annotations

import pytest

from windtunnel.apiserver.access.static_tokens import read_tokens


def test_a_line_names_token_user_uid_and_groups() -> None:
    users = read_tokens('t1,ann,1,"a,b"\r\n\nt2,bob,2\n,nobody,3\n"t""3",c d, 4,"x\ny"')

    assert set(users) == {"t1", "t2", 't"3'}
    assert (users["t1"].name, users["t1"].uid, users["t1"].groups) == ("ann", "1", ("a", "b"))
    assert (users["t2"].name, users["t2"].groups) == ("bob", ())
    assert (users['t"3'].name, users['t"3'].uid, users['t"3'].groups) == ("c d", " 4", ("x\ny",))


def test_the_last_line_of_a_token_wins() -> None:
    assert read_tokens("t,ann,1\nt,bob,2").popitem()[1].name == "bob"


REFUSED = {
    "too few columns": ("t1,ann,1\nt2,bob\n", "found 2 in 'bob'"),
    "a comment": ("# no one\nt1,ann,1\n", "found 1 in 'a line'"),
    "a line of spaces": ("t1,ann,1\n  \n", "found 1 in 'a line'"),
    "a quote that is never closed": (
        't1,ann,1,"a,b\nt2,bob,2\n',
        'record on line 1; parse error on line 2, column 10: extraneous or missing " in '
        "quoted-field",
    ),
    "a quote inside a field": (
        't1,é"n,1\n', 'parse error on line 1, column 6: bare " in non-quoted-field',
    ),
    "a space before a quote": (
        't1,ann,1, "a"\n', 'parse error on line 1, column 11: bare " in non-quoted-field',
    ),
    "text after a quote": (
        't1,ann,1,"a"b\n',
        'parse error on line 1, column 12: extraneous or missing " in quoted-field',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_what_go_would_not_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError) as refusal:
        read_tokens(text)

    assert str(refusal.value).endswith(said)
