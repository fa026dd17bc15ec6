"""Devices of a node: who offers them, who holds them, who may still come in.

``devices`` is the part; the other modules are its deciders (``inventory``, ``holdings``,
``selection``, ``hints``, ``alignment``, ``checkpoint``: pure) and its mouths (``registration``,
``link``, ``pod_resources``: gRPC over Unix sockets, each on threads of its own).
"""
