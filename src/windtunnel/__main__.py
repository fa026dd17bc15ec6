"""``python -m windtunnel``: the same as the command."""

from windtunnel.cli import main

main()
