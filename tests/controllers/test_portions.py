import pytest

from windtunnel.controllers.portions import portion

PORTIONS = {
    "a number": (3, 10, True, 3),
    "a share rounded up": ("25%", 10, True, 3),
    "a share rounded down": ("25%", 10, False, 2),
    "more than all": ("150%", 4, True, 6),
    "nothing": (None, 10, True, 0),
}


@pytest.mark.parametrize(("value", "total", "up", "want"), PORTIONS.values(), ids=PORTIONS.keys())
def test_portion(value: int | str | None, total: int, up: bool, want: int) -> None:
    assert portion(value, total, up=up) == want
