"""Who may use a kubelet's API: whom the cluster's authority or the API server vouches for.

A certificate of the cluster's authority names a user; a bearer token is reviewed by the API server.
What they may is reviewed too, as rights on the node's subresources, and remembered for a while.
Source: kubelet v1.36, webhook authentication and authorization with their default times.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from typing import Any, Final

from windtunnel.client import Client
from windtunnel.kernel import Clock
from windtunnel.machinery.admission import User
from windtunnel.machinery.tree import Tree, dig

_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_TOKEN_SECONDS: Final = 120.0
_ALLOWED_SECONDS: Final = 300.0
_REFUSED_SECONDS: Final = 30.0
_MOST_REMEMBERED: Final = 1000
_SUBRESOURCES: Final = (
    ("/stats", ("stats",)),
    ("/metrics", ("metrics",)),
    ("/logs", ("log",)),
    ("/checkpoint", ("checkpoint",)),
    ("/pods", ("pods", "proxy")),
    ("/runningpods", ("pods", "proxy")),
    ("/healthz", ("healthz", "proxy")),
    ("/configz", ("configz", "proxy")),
)
"""Which rights open a path; any one of them is enough."""


def verb_of(method: str) -> str:
    """Return a request's method in words of rights."""
    return _VERBS.get(method, "get")


def subresources_of(path: str) -> Sequence[str]:
    """Return the rights that open a path."""
    for beginning, found in _SUBRESOURCES:
        if path == beginning or path.startswith(beginning + "/"):
            return found
    return ("proxy",)


def certified(tls: ssl.SSLObject | None) -> User | None:
    """Return whom the client's verified certificate names; None without one."""
    certificate: Any = tls.getpeercert() if tls is not None else None
    pairs = [pair for names in (certificate or {}).get("subject", ()) for pair in names]
    common = [value for name, value in pairs if name == "commonName"]
    groups = tuple(value for name, value in pairs if name == "organizationName")
    return User(common[-1], (*groups, "system:authenticated")) if common else None


class Access:
    """Asks the API server who somebody is and what he may; blocks while it does."""

    def __init__(self, client: Client, clock: Clock, node: str) -> None:
        self._client, self._clock, self._node = client, clock, node
        self._users: dict[str, tuple[float, User]] = {}
        self._verdicts: dict[tuple[str, ...], tuple[float, bool]] = {}

    def bearer(self, token: str) -> User | None:
        """Return whose token it is; None: nobody's.

        Raises:
            ApiError, WindtunnelError: The API server cannot be asked.
        """
        now = self._clock.now()
        known = self._users.get(token)
        if known is not None and known[0] > now:
            return known[1]
        review = self._client.create(
            "tokenreviews.authentication.k8s.io",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenReview",
                "spec": {"token": token},
            },
        )
        status: Tree = review.get("status") or {}
        if not status.get("authenticated"):
            return None
        found = status.get("user") or {}
        extra = {name: tuple(values) for name, values in (found.get("extra") or {}).items()}
        user = User(
            found.get("username") or "",
            tuple(found.get("groups") or ()),
            found.get("uid") or "",
            extra,
        )
        _bound(self._users)
        self._users[token] = (now + _TOKEN_SECONDS, user)
        return user

    def allows(self, user: User, verb: str, subresources: Sequence[str]) -> bool:
        """Whether a user holds any of these rights on the node.

        Raises:
            ApiError, WindtunnelError: The API server cannot be asked.
        """
        return any(self._allows(user, verb, subresource) for subresource in subresources)

    def _allows(self, user: User, verb: str, subresource: str) -> bool:
        now = self._clock.now()
        key = (user.name, user.uid, *user.groups, "", verb, subresource)
        known = self._verdicts.get(key)
        if known is not None and known[0] > now:
            return known[1]
        spec: Tree = {
            "user": user.name,
            "groups": list(user.groups),
            "resourceAttributes": {
                "verb": verb,
                "version": "v1",
                "resource": "nodes",
                "subresource": subresource,
                "name": self._node,
            },
        }
        if user.uid:
            spec["uid"] = user.uid
        if user.extra:
            spec["extra"] = {name: list(values) for name, values in user.extra.items()}
        review = self._client.create(
            "subjectaccessreviews.authorization.k8s.io",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": spec,
            },
        )
        allowed = bool(dig(review, "status", "allowed"))
        _bound(self._verdicts)
        self._verdicts[key] = (now + (_ALLOWED_SECONDS if allowed else _REFUSED_SECONDS), allowed)
        return allowed


def _bound(remembered: dict[Any, Any]) -> None:
    """Forget all where too much is remembered: strangers must not fill the memory."""
    if len(remembered) >= _MOST_REMEMBERED:
        remembered.clear()
