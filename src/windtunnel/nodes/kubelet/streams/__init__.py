"""What a kubelet serves over HTTP: programs in containers, logs, forwarded ports, and its state.

``api.KubeletApi`` is the part; it runs an event loop on a thread of its own, because what it does
is moving bytes. Nothing is exported here, for whoever makes a node imports the part by name.
"""
