"""Field ownership: ``metadata.managedFields``, plain writes, and server-side apply."""

from windtunnel.machinery.apply.conflicts import MistypedPatch
from windtunnel.machinery.apply.entries import restore_times
from windtunnel.machinery.apply.fieldset import FieldSet
from windtunnel.machinery.apply.patch import apply_patch
from windtunnel.machinery.apply.update import track_update

__all__ = ["FieldSet", "MistypedPatch", "apply_patch", "restore_times", "track_update"]
