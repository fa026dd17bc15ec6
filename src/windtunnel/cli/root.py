"""The command itself: which verbs there are, and how every failure becomes one sentence.

Exit codes: 0 done, 1 refused or failed, 2 asked for something impossible, 3 no such or no running
cluster, 4 damaged or foreign files, 130 interrupted (docs/reference/exit-codes.md).
"""

from __future__ import annotations

import difflib
import importlib
import os
import signal
import sys
from typing import Any, Final

import click

import windtunnel
from windtunnel.errors import BrokenInvariant, WindtunnelError, machine_refused
from windtunnel.machinery.errors import ApiError

VERBS: Final = {
    "up": "Start a cluster.",
    "down": "Stop a cluster.",
    "status": "Say how a cluster is.",
    "list": "List all clusters.",
    "compact": "Forget the watch history up to now.",
    "nodes": "Add, list and remove pools of GPU nodes.",
    "ledger": "Print the GPU account.",
    "kubectl": "Run kubectl on a cluster.",
    "agent": "Be one agent of the operator or of a node.",
    "conformance": "Replay recorded answers of the real programs.",
    "demo": "Show the main things in half a minute.",
    "version": "Print the version.",
}
"""Each is a module of this package with a click command ``command``; help is said here so that
printing it imports none of them."""

INTERRUPTED: Final = 130


class LazyVerbs(click.Group):
    """Finds a verb's module when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all verbs in the order in which one meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the verb's command."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"windtunnel.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or say which one may have been meant."""
        verb = args[0]
        if verb not in VERBS and not verb.startswith("-"):
            near = difflib.get_close_matches(verb, VERBS, n=1)
            hint = f"; did you mean {near[0]}?" if near else "; see windtunnel --help"
            raise click.UsageError(f"there is no command {verb}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=LazyVerbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(windtunnel.__version__, "--version", message="windtunnel %(version)s")
def root() -> None:
    """A GPU cluster out of nothing: fake GPUs, real scheduling decisions.

    Nothing inside a container is imitated: no CUDA, no memory isolation, no speed.
    """


def run(arguments: list[str]) -> int:
    """Run one command; print what went wrong in one sentence; return the exit code."""
    try:
        outcome: Any = root.main(arguments, prog_name="windtunnel", standalone_mode=False)
        code = outcome if isinstance(outcome, int) else 0
        if sys.stdout is not None:  # closed by who started us
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = 2
    except click.ClickException as error:
        code = _say(_sentence(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        # One is enough: a second must not tear the farewell apart.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = _say("interrupted", INTERRUPTED)
    except WindtunnelError as error:
        code = _say(str(error), error.exit_code)
    except ApiError as error:
        code = _say(f"the cluster refused: {error.message}", 1)
    except BrokenPipeError:
        # The reader has gone (``| head``); there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except (BrokenInvariant, MemoryError):
        raise
    except OSError as error:
        code = _say(machine_refused(error), 1)
    return code


def _sentence(error: click.ClickException) -> str:
    """Return click's message as one sentence that names the command."""
    if isinstance(error, click.NoSuchOption):
        near = [option for option in error.possibilities or () if option != "--help"]
        hint = f"; did you mean {near[0]}?" if near else ""
        text = f"there is no option {error.option_name}{hint}"
    else:
        text = " ".join(error.format_message().split()).removesuffix(".")
    text = text[:1].lower() + text[1:]
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path.removeprefix("windtunnel").strip() if context else ""
    return f"{command}: {text}" if command else text


def _say(sentence: str, code: int) -> int:
    click.echo(f"windtunnel: {sentence}", err=True)
    return code
