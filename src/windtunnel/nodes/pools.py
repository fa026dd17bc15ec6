"""What a user orders: a pool of nodes of one shape, said in one line or word by word."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from windtunnel.devices import POOL_LABEL, find_model, models
from windtunnel.errors import UsageError
from windtunnel.machinery import names, quantity

DEFAULT_PRODUCT: Final = "NVIDIA-H100-80GB-HBM3"
_SHORT: Final = re.compile(r"(?P<pool>[^:=]+):(?P<count>[0-9]+)(x(?P<gpus>[0-9]+))?")
_MAX_COUNT: Final = 100_000
_MAX_GPUS: Final = 1024
_CPU: Final = ("1m", "1000000")
_MEMORY: Final = ("1Mi", "1Pi")
_OWN_LABELS: Final = frozenset(
    {
        *(f"kubernetes.io/{what}" for what in ("arch", "hostname", "os")),
        *(f"beta.kubernetes.io/{what}" for what in ("arch", "os")),
        POOL_LABEL,
    }
)
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class PoolOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a user orders: so many nodes of one shape."""

    name: str
    count: int = 1
    gpus: int = 8
    product: str = DEFAULT_PRODUCT
    memory_mib: int = 0
    """MiB of one GPU; 0 takes it from the catalogue."""
    cpu: str = ""
    """"" for a size that suits the number of GPUs."""
    memory: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[tuple[str, str, str], ...] = ()
    """(key, value, effect)"""


def check(order: PoolOrder) -> PoolOrder:
    """Return the order, or say in one sentence why nothing can be made of it.

    Raises:
        UsageError: a name, number, quantity, label or taint is impossible.
    """
    wrong = names.dns_label(f"{order.name}-{max(order.count - 1, 0)}")
    if wrong:
        raise UsageError(f"pool name {order.name!r} makes no node names: {wrong[0]}")
    if not 1 <= order.count <= _MAX_COUNT:
        raise UsageError(f"a pool has 1 to {_MAX_COUNT} nodes, not {order.count}")
    if not 0 <= order.gpus <= _MAX_GPUS:
        raise UsageError(f"a node has 0 to {_MAX_GPUS} GPUs, not {order.gpus}")
    if order.gpus and not order.memory_mib and find_model(order.product) is None:
        raise UsageError(
            f"unknown GPU product {order.product!r}: name one of {', '.join(models())}, "
            "or say how much memory it has (gpu-memory, in MiB, above 0)"
        )
    for what, text, (least, most) in (
        ("cpu", order.cpu, _CPU),
        ("memory", order.memory, _MEMORY),
    ):
        if text and not _within(text, least, most):
            raise UsageError(f"{what} {text!r} is not a quantity from {least} to {most}")
    for key, value in order.labels:
        wrong = names.label_key(key) or names.label_value(value)
        if wrong:
            raise UsageError(f"label {key}={value}: {wrong[0]}")
        if key in _OWN_LABELS:
            raise UsageError(f"label {key}={value}: every node has this one already, by itself")
    twice = _repeated([key for key, _ in order.labels])
    if twice:
        raise UsageError(f"label {twice} is given twice")
    for key, value, effect in order.taints:
        wrong = names.label_key(key) or names.label_value(value)
        if wrong:
            raise UsageError(f"taint {key}={value}:{effect}: {wrong[0]}")
        if effect not in _EFFECTS:
            known = ", ".join(_EFFECTS)
            raise UsageError(f"taint {key}={value}:{effect}: the effect is one of {known}")
    return order


def parse_label(text: str) -> tuple[str, str]:
    """Return ``key=value`` as a pair; the value may be missing.

    Raises:
        UsageError: there is no key.
    """
    key, _, value = text.partition("=")
    if not key:
        raise UsageError(f"label {text!r} has no key: write key=value")
    return key, value


def parse_taint(text: str) -> tuple[str, str, str]:
    """Return ``key=value:effect`` or ``key:effect`` as a triple.

    Raises:
        UsageError: the key or the effect is missing.
    """
    pair, colon, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    if not colon or not key:
        raise UsageError(f"taint {text!r} is not of the form key=value:effect")
    return key, value, effect


def parse_order(text: str) -> PoolOrder:
    """Read an order in one line: ``pool=h100,count=100,gpus=8,product=NVIDIA-H100-80GB-HBM3``.

    ``cpu``, ``memory`` and ``gpu-memory`` (MiB) may be given, ``label`` and ``taint`` repeated.
    ``h100:100x8`` is short for the first three; a pool named like a model of the catalogue has that
    model, where no product is given.

    Raises:
        UsageError: a word is unknown or its value impossible.
    """
    words: dict[str, str] = {}
    given: list[str] = []
    labels: list[tuple[str, str]] = []
    taints: list[tuple[str, str, str]] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        word, equals, value = part.partition("=")
        short = None if equals else _SHORT.fullmatch(part)
        if short is not None:
            said = {key: value for key, value in short.groupdict().items() if value}
            words |= said
            given += said
        elif not equals:
            raise UsageError(
                f"{part!r} in the node order {text!r} is neither word=value nor NAME:COUNTxGPUS"
            )
        elif word == "label":
            labels.append(parse_label(value))
        elif word == "taint":
            taints.append(parse_taint(value))
        elif word in ("pool", "count", "gpus", "product", "cpu", "memory", "gpu-memory"):
            words[word] = value
            given.append(word)
        else:
            raise UsageError(f"unknown word {word!r} in the node order {text!r}")
    twice = _repeated(given)
    if twice:
        raise UsageError(
            f"the node order {text!r} says {twice} twice; each pool has an order of its own"
        )
    if "pool" not in words:
        raise UsageError(f"the node order {text!r} names no pool")
    namesake = find_model(words["pool"])
    product = words.get("product") or (namesake.label if namesake else DEFAULT_PRODUCT)
    model = find_model(product)
    return check(
        PoolOrder(
            name=words["pool"],
            count=_whole(words, "count", 1),
            gpus=_whole(words, "gpus", model.gpus if model else 8),
            product=product,
            memory_mib=_whole(words, "gpu-memory", 0),
            cpu=words.get("cpu", ""),
            memory=words.get("memory", ""),
            labels=tuple(labels),
            taints=tuple(taints),
        )
    )


def _within(text: str, least: str, most: str) -> bool:
    try:
        return quantity.parse(least) <= quantity.parse(text) <= quantity.parse(most)
    except ValueError:
        return False


def _repeated(names: list[str]) -> str:
    return next((name for name in names if names.count(name) > 1), "")


def _whole(words: dict[str, str], word: str, default: int) -> int:
    text = words.get(word)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"{word} is a whole number, not {text!r}")
    return int(text)
