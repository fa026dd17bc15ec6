"""Probes: has a container started, does it live, is it ready."""
