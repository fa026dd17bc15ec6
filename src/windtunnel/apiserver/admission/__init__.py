"""Admission: rules that change or refuse a write after it is understood and before it is stored.

One plugin per file; the order is written out in ``plugins``. Source: kube-apiserver v1.36, plugins
on by default, as far as they matter to a cluster of fake hardware.
"""

from windtunnel.apiserver.admission.chain import Admission, Plugin, forbid
from windtunnel.apiserver.admission.plugins import plugins

__all__ = ["Admission", "Plugin", "forbid", "plugins"]
