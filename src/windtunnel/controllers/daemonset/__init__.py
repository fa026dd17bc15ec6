"""DaemonSets: which nodes get a pod, how pods are exchanged, and what is counted."""
