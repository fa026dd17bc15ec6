"""The plain verbs on objects: read options and body, hand over, render what came of it."""

from __future__ import annotations

from typing import Final

from windtunnel.apiserver.call import Call
from windtunnel.apiserver.forms.bodies import (
    MalformedBody,
    read_fields,
    read_protobuf,
    unregistered,
)
from windtunnel.apiserver.forms.negotiation import PROTOBUF, Form, body_form
from windtunnel.apiserver.forms.options import (
    META,
    DeleteOptions,
    delete_options,
    list_options,
    write_options,
)
from windtunnel.apiserver.forms.rendering import answer, success_status
from windtunnel.apiserver.forms.selection import select
from windtunnel.apiserver.request import Answer, Outcome
from windtunnel.apiserver.verbs.deleting import Deleted, Deleting
from windtunnel.apiserver.verbs.objects import Objects
from windtunnel.apiserver.verbs.patching import Patching
from windtunnel.apiserver.verbs.reading import Listing, Reading
from windtunnel.apiserver.verbs.validation import read_body, set_defaults
from windtunnel.apiserver.verbs.watching import Watching
from windtunnel.apiserver.verbs.writing import Writing, Written, place, require_name
from windtunnel.kinds import structure_of
from windtunnel.machinery.errors import ApiError, BadRequest, MethodNotAllowed, NotFound
from windtunnel.machinery.schema import Structure, type_mistake
from windtunnel.machinery.tree import Tree
from windtunnel.store import Version

_OPTIONS: Final = "DeleteOptions"


def _options_structure() -> Structure:
    """Return the shape of DeleteOptions, which no path serves: evictions carry them."""
    return structure_of("policy", "v1", "Eviction").fields["deleteOptions"]


class Verbs:
    """Answers get, list, watch, create, update, patch, delete and deletecollection."""

    def __init__(
        self,
        objects: Objects,
        reading: Reading,
        watching: Watching,
        writing: Writing,
        patching: Patching,
        deleting: Deleting,
    ) -> None:
        self._objects, self._reading, self._watching = objects, reading, watching
        self._writing, self._patching, self._deleting = writing, patching, deleting

    def handle(self, call: Call) -> Outcome:
        """Answer a request for whole objects."""
        match call.route.verb:
            case "get":
                return self._reading.get(call)
            case "list":
                return self._reading.list_all(call)
            case "watch":
                return self._watching.watch(call)
            case "create":
                return self._create(call)
            case "update":
                return self._update(call)
            case "patch":
                return self._written(call, self._patching.patch(call))
            case "delete":
                return self._delete(call)
            case "deletecollection":
                return self._delete_collection(call)
        raise MethodNotAllowed

    def handle_part(self, call: Call) -> Outcome:
        """Answer a request for a subresource that is part of its object."""
        match call.route.verb:
            case "get":
                return self._reading.get(call)
            case "update":
                return self._update(call, call.route.subresource)
            case "patch":
                return self._written(call, self._patching.patch(call, call.route.subresource))
        raise MethodNotAllowed

    def _create(self, call: Call) -> Answer:
        options = write_options(call.request.query, "CreateOptions")
        call.dry_run, call.validation = options.dry_run, options.validation
        tree = read_body(call)
        written = self._writing.create(call, tree, options=options.tree("CreateOptions"))
        return self._written(call, written)

    def _update(self, call: Call, subresource: str = "") -> Answer:
        options = write_options(call.request.query, "UpdateOptions")
        call.dry_run, call.validation = options.dry_run, options.validation
        tree = read_body(call)
        if tree.get("metadata"):
            place(call, tree)
        require_name(call, tree)
        set_defaults(call.kind, tree)
        written = self._writing.update(
            call,
            lambda _: tree,
            options=options.tree("UpdateOptions"),
            subresource=subresource,
            put=True,
        )
        return self._written(call, written)

    def _written(self, call: Call, written: Written) -> Answer:
        status = 201 if written.created else 200
        if written.version is not None and call.form == Form():
            return self._reading.show(call, written.version, status)
        return self._reading.show_tree(call, written.tree, status)

    def _delete(self, call: Call) -> Answer:
        options = self._delete_options(call)
        version = self._reading.find(call)
        call.dry_run = options.dry_run
        return self._deleted(call, version, self._deleting.delete(call, version, options))

    def _delete_options(self, call: Call) -> DeleteOptions:
        request = call.request
        body = self._delete_body(call) if request.body else None
        return delete_options(request.query, body)

    def _delete_body(self, call: Call) -> Tree:
        body = call.request.body
        media = body_form(call.request.content_type)
        if media == PROTOBUF:
            fields = read_protobuf(call.kind, body)[2]
        else:
            try:
                fields = read_fields(body, media)
            except MalformedBody as problem:
                raise BadRequest(str(problem)) from None
        kind = fields.get("kind") or _OPTIONS
        if kind != _OPTIONS:
            raise BadRequest(unregistered(kind, fields.get("apiVersion") or f"{META}/v1"))
        mistake = type_mistake(_options_structure(), fields)
        if isinstance(mistake, str):
            raise BadRequest(mistake)
        return fields

    def _deleted(self, call: Call, version: Version, deleted: Deleted) -> Answer:
        if deleted.gone and call.kind.delete_answer == "status":
            tree = success_status(call.kind, version.key.name, version.uid)
            return answer(
                tree,
                form=Form(call.form.media),
                warnings=call.warnings,
                revision=self._objects.store.revision,
            )
        plain = call.form if call.form.as_kind == "PartialObjectMetadata" else Form(call.form.media)
        call.form = plain
        return self._reading.show_tree(call, deleted.tree)

    def _delete_collection(self, call: Call) -> Answer:
        options = self._delete_options(call)
        call.dry_run = options.dry_run
        chosen = list_options(call.request.query, watch=False)
        selection = select(self._objects, call.kind, chosen.label_selector, chosen.field_selector)
        listing = self._reading.page(call.kind, call.namespace, chosen, selection)
        for version in listing.versions:
            try:
                self._deleting.delete(call, version, options)
            except NotFound:
                continue
        shown = Listing(listing.versions, listing.revision)
        return self._reading.show_list(call, call.kind, shown, Form(call.form.media))

    def delete_quietly(self, call: Call, version: Version) -> None:
        """Delete an object on the server's own account; one that refuses stays."""
        try:
            self._deleting.delete(call, version, DeleteOptions(), admit=False)
        except ApiError:
            return
