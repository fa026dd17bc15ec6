"""The only place that knows everyone: settings in, a wired cluster out.

Parts are put together by plain constructor calls in one file, ``parts``: for a cluster that is
served (``cluster``: asyncio, TLS, signals) and for one in virtual time (``virtual``: neither). What
is exported here costs no more than a command line may; ``serve``, ``parts`` and ``virtual`` import
the whole house and are imported by name, by whoever is about to run it.
"""

from windtunnel.assembly.settings import COMPACT_PATH, PARTS, Settings, parse_flag
from windtunnel.assembly.start import start

__all__ = ["COMPACT_PATH", "PARTS", "Settings", "parse_flag", "start"]
