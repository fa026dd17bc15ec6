"""The command line: one file per verb. A verb parses, calls and prints; it decides nothing.

Verbs are imported when they are used, so that ``windtunnel --help`` or an agent never pays for the
server. Whatever goes wrong ends as one sentence on the error stream and an exit code.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    import sys

    if sys.argv[1:2] == ["agent"] and sys.argv[2:] and not sys.argv[2].startswith("-"):
        from windtunnel.assembly.agent import run as run_agent

        sys.exit(run_agent(sys.argv[2], sys.argv[3:]))
    try:
        from windtunnel.cli.root import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        # So early that not even the command was known: nothing has been touched.
        sys.stderr.write("windtunnel: interrupted\n")
        code = 130
    sys.exit(code)
