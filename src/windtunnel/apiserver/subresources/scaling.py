"""The scale subresource: the number of replicas of anything that has one."""

from __future__ import annotations

from collections.abc import Callable

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.custom import Customs
from windtunnel.apiserver.forms.bodies import read_object
from windtunnel.apiserver.forms.negotiation import body_form, patch_form
from windtunnel.apiserver.forms.options import write_options
from windtunnel.apiserver.forms.rendering import answer
from windtunnel.apiserver.request import Answer
from windtunnel.apiserver.subresources.parts import SCALE
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.patching import Patching, read_applied
from windtunnel.apiserver.verbs.reading import Reading
from windtunnel.apiserver.verbs.writing import Writing, place, require_name
from windtunnel.kinds import Kind, structure_of
from windtunnel.kinds.workload.scale import (
    NoSuchPath,
    custom_scale_of,
    scale_of,
    set_custom_replicas,
    set_replicas,
    validate_scale,
)
from windtunnel.machinery.apply import track_update
from windtunnel.machinery.errors import InternalError, Invalid
from windtunnel.machinery.schema import decode_check
from windtunnel.machinery.tree import Tree

_SCALE = Kind(
    group="autoscaling",
    version="v1",
    kind="Scale",
    plural="scales",
    singular="scale",
    namespaced=True,
    structure=lambda: structure_of("autoscaling", "v1", "Scale"),
)


class Scaling:
    """Reads and writes scales."""

    def __init__(
        self,
        objects: Objects,
        reading: Reading,
        writing: Writing,
        patching: Patching,
        customs: Customs,
    ) -> None:
        self._objects, self._reading = objects, reading
        self._writing, self._patching = writing, patching
        self._customs = customs

    def handle(self, call: Call) -> Answer:
        """Answer a request for a scale."""
        verb = call.route.verb
        if verb == "get":
            tree = self._objects.tree(call.kind, self._reading.find(call))
            return self._show(call, self._of(call.kind, tree))
        if verb == "update":
            return self._write(call, self._put(call), "UpdateOptions")
        if patch_form(call.request.content_type) == "apply":
            return self._apply(call)
        return self._write(call, self._patch(call), "PatchOptions")

    def _of(self, kind: Kind, tree: Tree) -> Tree:
        paths = self._customs.scale_paths(kind)
        if paths is None:
            return scale_of(tree)
        try:
            return custom_scale_of(tree, paths)
        except NoSuchPath as missing:
            raise InternalError(
                f"Internal error occurred: {missing}",
                details={"causes": [{"message": str(missing)}]},
            ) from None

    def _show(self, call: Call, scale: Tree) -> Answer:
        return answer(
            scale,
            form=call.form,
            warnings=call.warnings,
            revision=self._objects.store.revision,
        )

    def _put(self, call: Call) -> Callable[[Tree], Tree]:
        media = body_form(call.request.content_type)
        scale = read_object(_SCALE, media, call.request.body)
        decode_check(_SCALE.structure(), scale, kind="Scale", version="v1")
        place(call, scale)
        require_name(call, scale)
        return lambda _: scale

    def _patch(self, call: Call) -> Callable[[Tree], Tree]:
        form = patch_form(call.request.content_type)
        change = self._patching.change(form, _SCALE, call.request.body)

        def changed(scale: Tree) -> Tree:
            new, _ = change(scale)
            decode_check(_SCALE.structure(), new, kind="Scale", version="v1")
            return new

        return changed

    def _apply(self, call: Call) -> Answer:
        """Apply a scale: what it says of replicas is applied to the object itself."""
        kind = call.kind
        options = write_options(call.request.query, "PatchOptions", apply=True)
        call.dry_run, call.manager = options.dry_run, options.manager
        scale = read_applied(call, _SCALE)
        decode_check(_SCALE.structure(), scale, kind="Scale", version="v1")
        wanted: Tree = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": call.route.name},
            "spec": {},
        }
        paths = self._customs.scale_paths(kind)
        if paths is None:
            set_replicas(wanted, scale)
        else:
            set_custom_replicas(wanted, paths, scale)
        written = self._patching.apply(
            call,
            wanted,
            force=options.force,
            subresource="scale",
            options=options.tree("PatchOptions"),
            part=SCALE,
        )
        return self._show(call, self._of(kind, written.tree))

    def _write(self, call: Call, change: Callable[[Tree], Tree], options_kind: str) -> Answer:
        kind = call.kind
        options = write_options(
            call.request.query,
            "UpdateOptions" if options_kind == "UpdateOptions" else "PatchOptions",
        )
        call.dry_run = options.dry_run
        paths = self._customs.scale_paths(kind)

        def changed(tree: Tree) -> Tree:
            scale = change(self._of(kind, tree))
            violations = validate_scale(scale)
            if violations:
                raise Invalid("Scale", "autoscaling", call.route.name, violations)
            tree["metadata"]["resourceVersion"] = scale["metadata"].get("resourceVersion", "")
            if paths is None:
                set_replicas(tree, scale)
            else:
                set_custom_replicas(tree, paths, scale)
            return tree

        written = self._writing.update(
            call,
            changed,
            options=options.tree("UpdateOptions"),
            subresource="scale",
            part=SCALE,
            own=_own,
        )
        return self._show(call, self._of(kind, written.tree))


def _own(call: Call, old: Tree, new: Tree, subresource: str) -> None:
    track_update(
        old,
        new,
        call.kind.structure(),
        manager=call.manager,
        api_version=call.kind.api_version,
        subresource=subresource,
        now="",
    )
