"""Webhooks: people outside who may change or refuse a write.

They are asked through ``Ask``; the reply is found by the webhook's name and what it was asked, so
that a replay asks again only when the object has become another one meanwhile. Conditions in CEL
(``matchConditions``) are not evaluated: such a webhook is asked about everything its rules match.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any, Final

from windtunnel.apiserver.admission.webhook_rules import matches_rules, service_url
from windtunnel.apiserver.mint import Mint
from windtunnel.machinery.admission import Act, Ask, Petition, Reply
from windtunnel.machinery.errors import ApiError, BadRequest, InternalError
from windtunnel.machinery.patches import json_patch
from windtunnel.machinery.selectors import LabelSelector
from windtunnel.machinery.tree import Key, Tree, decode, dig, encode
from windtunnel.store import Store, Version

_GROUP: Final = "admissionregistration.k8s.io"
MUTATING: Final = f"mutatingwebhookconfigurations.{_GROUP}"
VALIDATING: Final = f"validatingwebhookconfigurations.{_GROUP}"


class WebhookDenial(ApiError):
    """A webhook has said no, with a code and reason of its own."""

    def __init__(self, status: Tree) -> None:
        super().__init__(status.get("message", ""))
        self._status = status
        self.code = status["code"]  # type: ignore[misc]

    def to_status(self) -> Tree:
        """Return the Status that the webhook has made."""
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, **self._status}


class Webhooks:
    """Asks the webhooks whose rules match a write."""

    def __init__(self, store: Store, mint: Mint) -> None:
        self._store, self._mint = store, mint
        self._hooks: dict[str, list[Tree] | None] = {MUTATING: None, VALIDATING: None}
        for resource in self._hooks:
            store.subscribe(resource, self._forget)

    def _forget(self, version: Version) -> None:
        self._hooks[version.resource] = None

    def concerns(self, act: Act) -> bool:
        """Everything but the configurations of webhooks and policies themselves."""
        return act.group != _GROUP

    def _all(self, resource: str) -> list[Tree]:
        hooks = self._hooks[resource]
        if hooks is None:
            hooks = self._hooks[resource] = [
                hook
                for version in self._store.list(resource)
                for hook in version.tree().get("webhooks") or ()
            ]
        return hooks

    def mutate(self, petition: Petition) -> None:
        """Ask the mutating webhooks, one after the other, and apply their patches."""
        for hook in self._matching(MUTATING, petition):
            response = self._ask(hook, petition)
            patch = (response or {}).get("patch")
            if not patch or petition.new is None:
                continue
            # The object may share parts with the stored one: patch a copy.
            copy = decode(encode(petition.new))
            changed = json_patch(copy, decode(base64.b64decode(patch)))
            petition.new.clear()
            petition.new.update(changed)

    def judge(self, petition: Petition) -> None:
        """Ask the validating webhooks."""
        for hook in self._matching(VALIDATING, petition):
            self._ask(hook, petition)

    def _matching(self, resource: str, petition: Petition) -> Iterator[Tree]:
        for hook in self._all(resource):
            if matches_rules(hook, petition) and self._selected(hook, petition):
                yield hook

    def _selected(self, hook: Tree, petition: Petition) -> bool:
        if (selector := hook.get("namespaceSelector")) and not self._in_namespace(
            selector, petition
        ):
            return False
        chosen = hook.get("objectSelector")
        if not chosen:
            return True
        parsed = LabelSelector.from_tree(chosen)
        return any(
            parsed.matches(dig(tree, "metadata", "labels"))
            for tree in (petition.new, petition.old)
            if tree is not None
        )

    def _in_namespace(self, selector: Tree, petition: Petition) -> bool:
        name = petition.namespace
        if petition.act.resource == "namespaces":
            name = petition.name
            if petition.new is not None:
                labels = dig(petition.new, "metadata", "labels")
                return LabelSelector.from_tree(selector).matches(labels)
        if not name:
            return True
        namespace = self._store.get("namespaces", Key("", name))
        labels = namespace.labels if namespace is not None else {}
        return LabelSelector.from_tree(selector).matches(labels)

    def _ask(self, hook: Tree, petition: Petition) -> Tree | None:
        """Return the webhook's response; None where its failure is ignored.

        Raises:
            ReplyWanted: The call has to be made.
            ApiError: The webhook refuses, or fails and its failure counts.
        """
        name = hook["name"]
        if petition.dry_run and hook.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise BadRequest(f'admission webhook "{name}" does not support dry run')
        review = _review(petition)
        digest = hashlib.sha256(encode(review)).hexdigest()
        review["request"]["uid"] = petition.once("review", self._mint.uid)
        seconds = hook.get("timeoutSeconds") or 10
        url, server_name = self._address(hook.get("clientConfig") or {})
        url += f"{'&' if '?' in url else '?'}timeout={seconds}s"
        ca = base64.b64decode((hook.get("clientConfig") or {}).get("caBundle") or "")
        reply = petition.ask(
            Ask(f"{name}/{digest}", url, encode(review), ca, float(seconds), server_name)
        )
        problem, response = _read(reply, url, review["request"]["uid"])
        if problem:
            if hook.get("failurePolicy") == "Ignore":
                return None
            why = f'failed calling webhook "{name}": {problem}'
            raise InternalError(
                f"Internal error occurred: {why}", details={"causes": [{"message": why}]}
            )
        for warning in response.get("warnings") or ():
            petition.warn(warning)
        if not response.get("allowed"):
            raise _denial(name, response.get("status") or {})
        return response

    def _address(self, client: Tree) -> tuple[str, str]:
        if client.get("url"):
            return client["url"], ""
        return service_url(self._store, client.get("service") or {})


def _read(reply: Reply, url: str, uid: str) -> tuple[str, Tree]:
    """Return why the call failed ("" when it did not), and the response."""
    prefix = f'failed to call webhook: Post "{url}": '
    if reply.error:
        return prefix + reply.error, {}
    if reply.status != 200:
        text = reply.body.decode("utf-8", "replace").strip()
        return f"failed to call webhook: {text or f'an error ({reply.status})'}", {}
    try:
        response: Any = decode(reply.body)["response"]
    except (ValueError, KeyError, TypeError):
        return "failed to call webhook: the response is no AdmissionReview", {}
    if not isinstance(response, dict):
        return "webhook response was absent", {}
    if response.get("uid") != uid:
        return f'expected response.uid="{uid}", got "{response.get("uid", "")}"', {}
    return "", response


def _denial(name: str, status: Tree) -> WebhookDenial:
    status = {key: value for key, value in status.items() if value}
    status["code"] = max(int(status.get("code") or 0), 400)
    status["status"] = "Failure"
    text = f'admission webhook "{name}" denied the request'
    why = status.get("message") or status.get("reason")
    status["message"] = f"{text}: {why}" if why else f"{text} without explanation"
    status.pop("metadata", None)
    return WebhookDenial(status)


def _review(petition: Petition) -> Tree:
    act = petition.act
    kind = act.spoken._asdict()
    resource = {"group": act.group, "version": act.version, "resource": act.plural}
    request: Tree = {
        "uid": "",
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "operation": petition.act.operation,
        "userInfo": petition.user.to_tree(),
        "object": petition.new,
        "oldObject": petition.old,
        "dryRun": petition.dry_run,
        "options": petition.options or None,
    }
    if petition.name:
        request["name"] = petition.name
    if petition.namespace:
        request["namespace"] = petition.namespace
    if petition.act.subresource:
        request["subResource"] = request["requestSubResource"] = petition.act.subresource
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
