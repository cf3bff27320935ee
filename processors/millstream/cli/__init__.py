"""The command `millstream`.

Each subcommand is a click command in a module of its own, imported when it is used: `millstream check` does
not wait for what only `millstream lab` needs, and a portion that is not installed takes only its own command
away.
"""

from __future__ import annotations

from importlib import import_module

import click

#: subcommand -> where its click command stands
COMMANDS: dict[str, str] = {}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=LazyGroup)
@click.version_option(package_name="millstream")
def main() -> None:
    """Compose and run queries on event streams, check properties, run experiments."""
