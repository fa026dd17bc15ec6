"""The only place that knows everyone: settings in, a wired cluster out.

Parts are put together by plain constructor calls, in one file (``cluster``). The command line uses
``state`` to find clusters and ``cluster`` to start one; nothing here is imported by the parts.
"""
