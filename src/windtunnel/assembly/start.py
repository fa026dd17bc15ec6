"""Starting a cluster in a process of its own, for whoever has other things to do meanwhile."""

from __future__ import annotations

from windtunnel.assembly.settings import Settings
from windtunnel.home import Folder, Process, Ready, detached


def start(settings: Settings, *, bound: bool = False) -> Process:
    """Start a cluster; return when a pod can be created.

    Args:
        settings: What was asked for.
        bound: Whether the cluster stops when this process ends, however it ends.

    Raises:
        WindtunnelError: it cannot be started; nothing is left of it but its data.
    """
    folder = Folder(settings.name, settings.home)
    new = folder.create()

    def serve_it(ready: Ready) -> None:
        # Imported in the child: the parent needs none of it.
        from windtunnel.assembly.serve import serve

        serve(settings, ready, new=new)

    return detached(serve_it, folder.log, bound=bound)
