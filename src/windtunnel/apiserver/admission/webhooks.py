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
from windtunnel.apiserver.call import Attempt
from windtunnel.apiserver.request import Ask, Reply
from windtunnel.kinds.served.kind import Kind
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

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hooks: dict[str, list[Tree] | None] = {MUTATING: None, VALIDATING: None}
        for resource in self._hooks:
            store.subscribe(resource, self._forget)

    def _forget(self, version: Version) -> None:
        self._hooks[version.resource] = None

    def concerns(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Everything but the configurations of webhooks and policies themselves."""
        return kind.group != _GROUP

    def _all(self, resource: str) -> list[Tree]:
        hooks = self._hooks[resource]
        if hooks is None:
            hooks = self._hooks[resource] = [
                hook
                for version in self._store.list(resource)
                for hook in version.tree().get("webhooks") or ()
            ]
        return hooks

    def mutate(self, attempt: Attempt) -> None:
        """Ask the mutating webhooks, one after the other, and apply their patches."""
        for hook in self._matching(MUTATING, attempt):
            response = self._ask(hook, attempt)
            patch = (response or {}).get("patch")
            if not patch or attempt.new is None:
                continue
            # The object may share parts with the stored one: patch a copy.
            copy = decode(encode(attempt.new))
            changed = json_patch(copy, decode(base64.b64decode(patch)))
            attempt.new.clear()
            attempt.new.update(changed)

    def judge(self, attempt: Attempt) -> None:
        """Ask the validating webhooks."""
        for hook in self._matching(VALIDATING, attempt):
            self._ask(hook, attempt)

    def _matching(self, resource: str, attempt: Attempt) -> Iterator[Tree]:
        for hook in self._all(resource):
            if matches_rules(hook, attempt) and self._selected(hook, attempt):
                yield hook

    def _selected(self, hook: Tree, attempt: Attempt) -> bool:
        if (selector := hook.get("namespaceSelector")) and not self._in_namespace(
            selector, attempt
        ):
            return False
        chosen = hook.get("objectSelector")
        if not chosen:
            return True
        parsed = LabelSelector.from_tree(chosen)
        return any(
            parsed.matches(dig(tree, "metadata", "labels"))
            for tree in (attempt.new, attempt.old)
            if tree is not None
        )

    def _in_namespace(self, selector: Tree, attempt: Attempt) -> bool:
        name = attempt.namespace
        if attempt.kind.resource == "namespaces":
            name = attempt.name
            if attempt.new is not None:
                labels = dig(attempt.new, "metadata", "labels")
                return LabelSelector.from_tree(selector).matches(labels)
        if not name:
            return True
        namespace = self._store.get("namespaces", Key("", name))
        labels = namespace.labels if namespace is not None else {}
        return LabelSelector.from_tree(selector).matches(labels)

    def _ask(self, hook: Tree, attempt: Attempt) -> Tree | None:
        """Return the webhook's response; None where its failure is ignored.

        Raises:
            ReplyWanted: The call has to be made.
            ApiError: The webhook refuses, or fails and its failure counts.
        """
        name = hook["name"]
        if attempt.dry_run and hook.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise BadRequest(f'admission webhook "{name}" does not support dry run')
        review = _review(attempt)
        digest = hashlib.sha256(encode(review)).hexdigest()
        review["request"]["uid"] = attempt.call.new_uid()
        seconds = hook.get("timeoutSeconds") or 10
        url, server_name = self._address(hook.get("clientConfig") or {})
        url += f"{'&' if '?' in url else '?'}timeout={seconds}s"
        ca = base64.b64decode((hook.get("clientConfig") or {}).get("caBundle") or "")
        reply = attempt.call.reply_to(
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
            attempt.call.warn(warning)
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


def _names(attempt: Attempt) -> tuple[Tree, Tree]:
    kind = attempt.kind
    if attempt.subresource and attempt.subresource != "status":
        spoken = kind.subresources.get(attempt.subresource)
        if spoken is not None:
            gvk = {"group": spoken.group, "version": spoken.version, "kind": spoken.kind}
            return gvk, _resource(kind)
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}, _resource(kind)


def _resource(kind: Kind) -> Tree:
    return {"group": kind.group, "version": kind.version, "resource": kind.plural}


def _review(attempt: Attempt) -> Tree:
    gvk, resource = _names(attempt)
    user = attempt.call.user
    info: Tree = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    request: Tree = {
        "uid": "",
        "kind": gvk,
        "resource": resource,
        "requestKind": gvk,
        "requestResource": resource,
        "operation": attempt.operation,
        "userInfo": info,
        "object": attempt.new,
        "oldObject": attempt.old,
        "dryRun": attempt.dry_run,
        "options": attempt.options or None,
    }
    if attempt.name:
        request["name"] = attempt.name
    if attempt.namespace:
        request["namespace"] = attempt.namespace
    if attempt.subresource:
        request["subResource"] = request["requestSubResource"] = attempt.subresource
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
