"""The group of commands: finds and loads them by name, and turns errors into one line and an exit code."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from ... import __version__
from ...schemas.errors import ConfirmationRequiredError, EbbingError, InvalidInputError
from .invocation import Invocation, shared_options

COMMANDS: dict[str, str] = {
    "save": "save",
    "recall": "recall",
    "learn": "learn",
    "forget": "forget",
    "status": "status",
    "explain": "explain",
    "soft-prompt": "soft_prompt",
    "run-daily": "run_daily",
    "serve": "serve",
    "setup": "setup",
    "export": "export",
    "import": "import_",
    "backup": "backup",
    "restore": "restore",
    "doctor": "doctor",
    "demo": "demo",
}
"""Each command's name and its module beside this one; help shows them in this order."""

_INTERRUPTED = 130


class Commands(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f"{__package__}.{COMMANDS[cmd_name]}").command


@click.command(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ebbing", message="%(prog)s %(version)s")
@shared_options(as_json=False)
@click.pass_context
def root(ctx: click.Context) -> int | None:
    """A memory for coding agents that forgets the way people do.

    Without a command it is an MCP server over standard input and output, which is how clients start it. The commands
    are for people, on the same memories.
    """
    if ctx.invoked_subcommand is None:
        from ..serving import serve_stdio

        return serve_stdio(ctx.ensure_object(Invocation).environment())
    return None


def run(arguments: Sequence[str], made: Invocation | None = None) -> int:
    """Run one command line, over `made` where a caller brings a clock; returns its exit code.

    An error is one line on stderr.
    """
    for stream in (sys.stdout, sys.stderr):
        # Memories hold any character; a terminal or pipe of a narrower encoding must not end the command.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    try:
        outcome = root.main(list(arguments), prog_name="ebbing", standalone_mode=False, obj=made)
        return outcome if isinstance(outcome, int) else 0
    except click.ClickException as error:
        return _complain(_with_hint(error), error.exit_code)
    except click.Abort:
        return _complain("stopped", _INTERRUPTED)
    except (InvalidInputError, ConfirmationRequiredError) as error:
        return _complain(str(error), 2)
    except EbbingError as error:
        return _complain(str(error), 1)


def _with_hint(error: click.ClickException) -> str:
    message = error.format_message()
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return message if ctx is None else f"{message.rstrip('.')}. See `{ctx.command_path} --help`."


def _complain(message: str, code: int) -> int:
    click.echo(f"ebbing: {' '.join(message.split())}", err=True)
    return code
