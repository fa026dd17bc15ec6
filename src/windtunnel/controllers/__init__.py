"""The slice of the controller manager we need: replicas, jobs, namespaces, garbage, node health.

Every controller is a reconciler: it reads caches, lets a pure function decide, and writes through
the client. They never talk to each other but through the API.
"""

from windtunnel.controllers.settings import Settings
from windtunnel.controllers.startup import Controllers

__all__ = ["Controllers", "Settings"]
