"""`millstream completion`: what a shell needs in order to complete commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .ending import debug_option


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@debug_option
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what makes a SHELL complete millstream's commands, options and files.

    \b
    bash:  echo 'eval "$(millstream completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(millstream completion zsh)"' >> ~/.zshrc
    fish:  millstream completion fish > ~/.config/fish/completions/millstream.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "millstream", "_MILLSTREAM_COMPLETE").source())
