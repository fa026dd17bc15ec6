"""Replays recorded scenarios of a real kubelet: pods, probes and device plugins on one node.

Each scenario has a cluster of its own: our API server, scheduler and controllers in one process,
the node and the scripted device plugins in another, kubectl from outside. What is seen is written
in the recording's form; judging it is left to who made the recording.
"""

import windtunnel.wire  # noqa: F401  # before gRPC: it tells its library to be quiet
