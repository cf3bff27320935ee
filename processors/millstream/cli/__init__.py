"""The command `millstream`.

Each subcommand is a click command in a module of its own, imported when it is used: `millstream check` does
not wait for what only `millstream lab` needs, and a portion that is not installed takes only its own command
away. How a command ends (errors, Ctrl-C, a closed pipe) is the same for all and stands in `ending`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from .ending import ending

#: subcommand -> where its click command stands
COMMANDS: dict[str, str] = {
    "check": "millstream.cli.check:check",
    "completion": "millstream.cli.completion:completion",
    "draw": "millstream.cli.draw:draw",
    "lab": "millstream.lab.cli:lab",
    "run": "millstream.cli.run:run",
}


#: subcommands whose libraries come with an extra of the same name
EXTRAS = ("lab",)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        try:
            command: click.Command = getattr(import_module(module), name)
        except ImportError as error:
            return unavailable(cmd_name, error)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            known = ", ".join(self.list_commands(ctx))
            raise click.UsageError(f"{error.message.rstrip('.')}; the commands are {known}.", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        with ending(ctx):
            return super().invoke(ctx)


def unavailable(name: str, error: ImportError) -> click.Command:
    """Return a command that says why it is not there, and what to install."""
    hint = f"; pip install 'millstream[{name}]'" if name in EXTRAS else ""

    def fail(**_: Any) -> None:
        raise click.ClickException(f"{name} is not available here: {error}{hint}")

    return click.Command(
        name,
        callback=fail,
        help=f"Not available here: {error}{hint}",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show where in the program an error comes from.")
@click.version_option(None, "-V", "--version", package_name="millstream")
def main(debug: bool) -> None:
    """Compose and run queries on event streams, check properties, draw queries, run experiments.

    \b
    millstream run query.py readings.csv           what comes out of a query
    millstream check 'G (req -> F ok)' trace.csv   does a property hold?
    millstream draw query.py -o query.svg          a picture of a query
    """
