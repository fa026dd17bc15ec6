"""The slice of the controller manager we need: replicas, jobs, namespaces, garbage, node health."""
