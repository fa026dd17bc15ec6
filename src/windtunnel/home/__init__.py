"""Where clusters live on this machine: their folders, their processes, and how they are reached.

One folder per cluster under ``$WINDTUNNEL_HOME`` (``~/.local/state/windtunnel`` by default).
Nothing here knows what a cluster is made of; whoever looks for one, or stops one, pays for no
server.
``home.certificates`` needs a library for keys and is imported by name, by whoever serves.
"""

from windtunnel.home.condition import State, describe, stop
from windtunnel.home.detach import Ready, detached
from windtunnel.home.folder import Folder, folders
from windtunnel.home.kubectl import find_kubectl
from windtunnel.home.lock import Lock
from windtunnel.home.process import Process, birth, end_with_parent
from windtunnel.home.reach import find, reach, serving
from windtunnel.home.storage import Storage, open_storage

__all__ = [
    "Folder",
    "Lock",
    "Process",
    "Ready",
    "State",
    "Storage",
    "birth",
    "describe",
    "detached",
    "end_with_parent",
    "find",
    "find_kubectl",
    "folders",
    "open_storage",
    "reach",
    "serving",
    "stop",
]
