"""How commands end: errors are said in a line or two, Ctrl-C and a closed pipe are not errors.

| what happened | exit status |
|---|---|
| an error, also a wrong option | 2 |
| Ctrl-C | 130, as shells have it for a program that SIGINT ended |
| the reader of a pipe is gone, as with `| head` | 141, likewise for SIGPIPE |

Whatever was written before has arrived: the output is flushed first. `--debug`, before or after the
subcommand, shows the traceback of an error.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import click

FAILED: Final = 2
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
#: errors whose message is meant for users; others are shown with their type
PLAIN: Final = (OSError, ImportError, ValueError)


def debug_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a subcommand take `--debug` as well as the group does."""

    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            ctx.find_root().params["debug"] = True

    text = "Show where in the program an error comes from."
    return click.option("--debug", is_flag=True, expose_value=False, callback=remember, help=text)(command)


@contextmanager
def ending(ctx: click.Context) -> Iterator[None]:
    """End a command as described above."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        leave(INTERRUPTED)
    except BrokenPipeError:
        leave(PIPE_CLOSED)
    except (click.exceptions.Exit, click.Abort):
        raise
    except click.ClickException as error:
        trace(ctx)
        flush()
        error.show()
        ctx.exit(FAILED)
    except Exception as error:
        trace(ctx)
        flush()
        cause = cause_at_source(error)
        click.echo(f"millstream: {describe(cause)}", err=True)
        if not ctx.find_root().params.get("debug") and not isinstance(cause, PLAIN):
            click.echo("(--debug shows where this comes from)", err=True)
        ctx.exit(FAILED)


def describe(error: BaseException) -> str:
    """Return the message of an error, with its type where the message alone does not tell."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if (isinstance(error, PLAIN) and text) or type(error).__module__.startswith("millstream."):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def cause_at_source(error: BaseException) -> BaseException:
    """Return the cause of an error in a source: what reads a file says best what is wrong with it."""
    from millstream.processors import StreamError  # not needed where nothing fails

    if isinstance(error, StreamError) and error.place == "input" and error.__cause__ is not None:
        return error.__cause__
    return error


def trace(ctx: click.Context) -> None:
    """Show the traceback if that was asked for."""
    if ctx.find_root().params.get("debug"):
        traceback.print_exc()


def flush() -> None:
    """Hand on what was printed; a reader that is gone is no concern any more."""
    with suppress(BrokenPipeError):
        sys.stdout.flush()


def leave(status: int) -> None:
    """Exit at once; nothing may be written any more at interpreter exit."""
    flush()
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    sys.exit(status)
