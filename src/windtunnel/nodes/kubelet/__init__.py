"""A node that runs containers: the part of a kubelet, over a runtime and device plugins.

``kubelet`` wires and listens. ``reception`` gives each pod a worker of ``pods``, which stands on a
``ground``: runtime, devices, volumes; ``clearing`` removes what is left of who has gone. What only
reads a pod (``pod_spec``, ``restart``, ``pod_records``, ``status``) lies below and knows nothing of
who runs it; a contract in pyproject.toml holds these layers.

Import ``kubelet`` for the part, ``settings`` for what can be set; both do I/O or are only wanted by
who makes a node, so nothing is exported here.
"""
