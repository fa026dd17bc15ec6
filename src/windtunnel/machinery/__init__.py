"""The rules of Kubernetes objects: quantities, selectors, patches, apply, errors, structure.

Everything here is a pure function over plain trees. Nothing knows a particular kind, a clock or
a socket; the kinds' own rules stand in ``windtunnel.kinds``.
"""
