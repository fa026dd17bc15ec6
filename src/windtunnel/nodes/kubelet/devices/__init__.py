"""Devices of a node: who offers them, who holds them, who may still come in.

``devices`` is the part. ``knowledge`` is what it knows, ``allotment`` who gets what; ``inventory``,
``holdings``, ``selection``, ``hints``, ``alignment``, ``admission`` and ``checkpoint`` are the pure
deciders and values below them; ``registration``, ``link`` and ``pod_resources`` speak gRPC over
Unix sockets, each on threads of its own.
"""

import windtunnel.wire  # noqa: F401  # before gRPC: it tells its library to be quiet
