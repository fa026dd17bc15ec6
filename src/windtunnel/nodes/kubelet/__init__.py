"""A node that runs containers: the part of a kubelet, over a runtime and device plugins.

Import ``kubelet`` for the part, ``settings`` for what can be set; both do I/O or are only wanted by
who makes a node, so nothing is exported here.
"""
