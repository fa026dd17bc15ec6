"""nvidia-smi for containers with fake GPUs: one file that runs in images we know nothing of.

``nvidia-smi.sh`` is the whole program; ``docs/decisions/0004-nvidia-smi.md`` says why it is a
script. Nothing else in the house reads what it prints.
"""

from windtunnel.gpu.smi.program import PROGRAM, run

__all__ = ["PROGRAM", "run"]
