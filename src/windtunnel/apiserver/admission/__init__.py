"""Admission: rules that change or refuse a write after it is understood and before it is stored.

One rule per file; the order is written out in ``panel``. What a rule looks like is said in
``machinery.admission``. Source: kube-apiserver v1.36, plugins
on by default, as far as they matter to a cluster of fake hardware.
"""

from windtunnel.apiserver.admission.chain import Chain
from windtunnel.apiserver.admission.panel import builtin_panel

__all__ = ["Chain", "builtin_panel"]
