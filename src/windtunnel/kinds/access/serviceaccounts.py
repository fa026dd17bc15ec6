"""Service accounts: who a pod is. Nothing about them can be wrong but their metadata."""

from __future__ import annotations

from typing import Final

from windtunnel.kinds.rules.checks import name_and_age
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Rules

DECLARATIONS: Final = {
    "serviceaccounts": Declared(
        delete_answer="object", metadata_judged=(1, 1), rules=Rules(cells=name_and_age)
    )
}
