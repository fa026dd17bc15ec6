"""The only place that knows everyone: settings in, a wired cluster or agent out.

Parts are put together by plain constructor calls: in ``parts``, for a cluster that is served
(``cluster``: asyncio, TLS, signals) and for one in virtual time (``virtual``: neither), and in
``components`` for agents, each in a process of its own (``agent``). What is exported here costs no
more than a command line may, and is resolved at first use, for an agent needs none of it;
``serve``, ``parts`` and ``virtual`` import the whole house and are imported by name, by whoever is
about to run it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windtunnel.machinery.exports import lazily

if TYPE_CHECKING:
    from windtunnel.assembly.settings import (
        COMPACT_PATH,
        NODE,
        PARTS,
        WITHOUT_EFFECT,
        Settings,
        choose_plugins,
        parse_flag,
    )
    from windtunnel.assembly.start import start

__all__ = [
    "COMPACT_PATH",
    "NODE",
    "PARTS",
    "WITHOUT_EFFECT",
    "Settings",
    "choose_plugins",
    "parse_flag",
    "start",
]

__getattr__ = lazily(
    __name__,
    {
        "assembly.settings": (
            "COMPACT_PATH",
            "NODE",
            "PARTS",
            "WITHOUT_EFFECT",
            "Settings",
            "choose_plugins",
            "parse_flag",
        ),
        "assembly.start": ("start",),
    },
)
