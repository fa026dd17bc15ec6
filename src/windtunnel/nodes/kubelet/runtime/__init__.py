"""The container runtime of a node: private roots made of namespaces, images, logs, exec."""
