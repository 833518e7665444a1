"""The command ``refsvm``: each subcommand has its own file, and one line of this file registers it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import refsvm
from refsvm.cli.compare import compare
from refsvm.cli.cv import cv
from refsvm.cli.datasets import datasets
from refsvm.cli.fit import fit
from refsvm.cli.loo import loo
from refsvm.cli.messages import OneSentence
from refsvm.cli.path import path
from refsvm.cli.predict import predict
from refsvm.cli.tune import tune
from refsvm.cli.warm_up import warm_up
from refsvm.core._checks import hint

app = typer.Typer(
    cls=OneSentence,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"refsvm {refsvm.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Train support vector machines by algorithms that can be read, swapped and compared."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command("help")
def show_help(
    ctx: typer.Context,
    command: Annotated[
        str | None, typer.Argument(metavar="[COMMAND]", show_default=False, help="One of the commands.")
    ] = None,
) -> None:
    """Print the list of all commands, or the help of a command."""
    root = ctx.find_root()
    if command is None:
        typer.echo(root.get_help())
        return
    commands: dict[str, Any] = getattr(root.command, "commands")  # noqa: B009 (the root command is a group)
    if command not in commands:
        raise ValueError(
            f"command={command!r} is unknown; {hint(command, commands, 'refsvm help lists all commands.')}"
        )
    with commands[command].make_context(command, [], parent=root, resilient_parsing=True) as inner:
        typer.echo(inner.get_help())


for command in (compare, fit, predict, cv, tune, loo, path, datasets, warm_up):  # --help keeps this order
    app.command()(command)
