"""Finds out who asks: bearer token, service-account token, client certificate, or nobody.

A wrong credential is refused; no credential at all is ``system:anonymous``. Impersonation comes
after, and is itself a right that authorization judges.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from windtunnel.apiserver.access.tokens import Signer
from windtunnel.apiserver.request import Request
from windtunnel.machinery.admission import User
from windtunnel.machinery.errors import BadRequest, Unauthorized
from windtunnel.machinery.tree import Key, Tree, dig, encode

AUTHENTICATED: Final = "system:authenticated"
ANONYMOUS: Final = User("system:anonymous", ("system:unauthenticated",))
MASTERS: Final = "system:masters"

Find = Callable[[str, Key], Tree | None]
"""Returns a stored object of a resource, or None."""


def account_user(namespace: str, name: str, uid: str = "") -> User:
    """Return the user that a service account is."""
    return User(
        f"system:serviceaccount:{namespace}:{name}",
        ("system:serviceaccounts", f"system:serviceaccounts:{namespace}"),
        uid,
    )


class Authenticator:
    """Knows the static tokens, the signer of service-account tokens, and nothing else."""

    def __init__(self, tokens: Mapping[str, User], signer: Signer, find: Find) -> None:
        self._tokens = dict(tokens)
        self._signer = signer
        self._find = find
        self.issuer = signer.issuer

    def user_of(self, request: Request, now: float) -> User:
        """Return who asks.

        Raises:
            Unauthorized: A credential is given and it is wrong.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() == "bearer" and token:
            user = self.by_token(token, now)
            if user is None:
                raise Unauthorized
            return _known(user)
        if request.certificate is not None:
            name, organisations = request.certificate
            return _known(User(name, organisations))
        return ANONYMOUS

    def by_token(self, token: str, now: float, audience: str = "") -> User | None:
        """Return whose token this is, or None."""
        for known, user in self._tokens.items():
            if hmac.compare_digest(known.encode(), token.encode()):
                return user
        if token.count(".") != 2:
            return None
        claims = self._signer.check(token)
        return self._account(claims, now, audience or self._signer.issuer) if claims else None

    def _account(self, claims: Tree, now: float, audience: str) -> User | None:
        if not claims.get("nbf", 0) <= now + 1 or claims.get("exp", 0) <= now:
            return None
        if audience not in claims.get("aud", []):
            return None
        private = claims.get("kubernetes.io") or {}
        namespace = private.get("namespace", "")
        name = dig(private, "serviceaccount", "name")
        uid = dig(private, "serviceaccount", "uid")
        if not self._lives("serviceaccounts", Key(namespace, name), uid):
            return None
        extra = {"authentication.kubernetes.io/credential-id": ("JTI=" + claims.get("jti", ""),)}
        for kind, resource in (("pod", "pods"), ("secret", "secrets"), ("node", "nodes")):
            bound = private.get(kind)
            if bound is None:
                continue
            key = Key("" if kind == "node" else namespace, bound["name"])
            if not self._lives(resource, key, bound["uid"]):
                return None
            if kind != "secret":
                extra[f"authentication.kubernetes.io/{kind}-name"] = (bound["name"],)
                extra[f"authentication.kubernetes.io/{kind}-uid"] = (bound["uid"],)
        return replace(account_user(namespace, name, uid), extra=extra)

    def _lives(self, resource: str, key: Key, uid: str) -> bool:
        found = self._find(resource, key)
        return found is not None and dig(found, "metadata", "uid") == uid


def _known(user: User) -> User:
    if AUTHENTICATED in user.groups or user.name == ANONYMOUS.name:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))


def impersonated(request: Request) -> User | None:
    """Return the user that the request wants to act as, or None.

    The group of all authenticated users is added, as to anyone who is not anonymous.

    Raises:
        BadRequest: It wants the groups, uid or extra of somebody, but not to be somebody.
    """
    headers = request.headers
    name = headers.get("impersonate-user", "")
    given = headers.get("impersonate-group")
    groups = tuple(part for part in (given or "").split("\n") if part)
    extra = {
        header.removeprefix("impersonate-extra-"): tuple(value.split("\n"))
        for header, value in headers.items()
        if header.startswith("impersonate-extra-")
    }
    uid = headers.get("impersonate-uid", "")
    if not name:
        if given is not None or uid or extra:
            raise BadRequest(
                f"requested {_go_user(uid, given, extra)} without impersonating a user name"
            )
        return None
    if name.startswith("system:serviceaccount:") and not groups:
        _, _, namespace, account = [*name.split(":", 3), "", ""][:4]
        groups = account_user(namespace, account).groups
    return _known(User(name, groups, uid, extra))


def _go_user(uid: str, groups: str | None, extra: Mapping[str, Sequence[str]]) -> str:
    """Print a user without a name as Go does."""
    pairs = ", ".join(f"{_quoted(key)}:{_go_list(extra[key])}" for key in sorted(extra))
    shown_groups = "[]string(nil)" if groups is None else _go_list(groups.split("\n"))
    shown_extra = f"{{{pairs}}}" if extra else "(nil)"
    return (
        f'&user.DefaultInfo{{Name:"", UID:{_quoted(uid)}, Groups:{shown_groups}, '
        f"Extra:map[string][]string{shown_extra}}}"
    )


def _go_list(texts: Sequence[str]) -> str:
    return "[]string{" + ", ".join(map(_quoted, texts)) + "}"


def _quoted(text: str) -> str:
    return encode(text).decode()
