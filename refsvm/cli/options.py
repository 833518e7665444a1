"""Declares the arguments and options that several commands share, each once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import is_dataclass
from functools import wraps
from glob import escape
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Final, get_type_hints

from typer import Abort, Argument, Option

from refsvm.cli.choices import ENGINES, SEEDERS, TASKS, one
from refsvm.cli.messages import be_quiet, be_verbose
from refsvm.core.engine.progress import Progress
from refsvm.datasets.bundled import GENERATED, names
from refsvm.services.line import line_of
from refsvm.services.names import KERNELS


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:  # noqa: A002  (Typer's name)
    """Declare an option with a placeholder for its value, its help text, and names that replace the argument's name."""
    return Option(*names, metavar=metavar, help=help, **more)


def flag(name: str, help: str) -> Any:  # noqa: A002
    """Declare an option with one name and no placeholder: it takes no value, or its type explains the value."""
    return Option(name, help=help)


def one_of(table: Iterable[str], more: str = "", **others: Any) -> Any:
    """Declare an option that takes one name of a table; the shell completes the name."""
    return option("NAME", f"One of {', '.join(table)}.{more}", autocompletion=_completed(table), **others)


def some_of(table: Iterable[str], *names: str, more: str = "") -> Any:
    """Declare an option that takes several names of a table; the shell completes the last name."""
    return option(
        "NAMES", f"Some of {', '.join(table)}, separated by commas; or all.{more}", *names,
        autocompletion=_completed(table),
    )  # fmt: skip


def _completed(table: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function that completes the last of several names separated by commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in table if name.startswith(last)]

    return complete


def _data_sets(incomplete: str) -> list[str]:
    """Return the names of data sets, files and folders that begin with a text; folders end with a slash."""
    sets = [name for name in sorted([*names(), *GENERATED]) if name.startswith(incomplete)]
    folder, _, beginning = incomplete.rpartition("/")
    place = Path(folder or ("/" if incomplete.startswith("/") else "."))
    files = sorted(place.glob(f"{escape(beginning)}*")) if place.is_dir() else []
    prefix = incomplete[: len(incomplete) - len(beginning)]
    return sets + [f"{prefix}{each.name}{'/' if each.is_dir() else ''}" for each in files]


def _known_engine(name: str) -> str:
    """Return the name of an engine; raise an error for an unknown name before data are read."""
    # check the name before the command starts, so that a misspelt name ends the command before it reads a large file
    one("engine", name, _ENGINES)
    return name


_ENGINES: Final = {"auto": None, **ENGINES}
_DATA: Final = (
    "Bundled name (see 'refsvm datasets'), a generated set (banana, chessboard, ringnorm, twonorm, waveform), NAME "
    "for NAME.npz in the data directory, or a file with LIBSVM lines, a table or an .npz archive, recognised by its "
    "contents, packed or not; - for the standard input."
)
Data = Annotated[str, Argument(metavar="DATA", help=_DATA, autocompletion=_data_sets)]
SeveralData = Annotated[list[str], Argument(metavar="DATA...", help=_DATA, autocompletion=_data_sets)]
Label = Annotated[str | None, option("COLUMN", "Label column of a table: its name, or its index from 0.")]
DataDir = Annotated[Path | None, option("DIR", "Data directory.  [default: the variable REFSVM_DATA]")]
KernelName = Annotated[str, one_of(KERNELS)]
_WIDTH: Final = "γ of the kernel; for rbf, a larger γ is a narrower kernel."
Gamma = Annotated[
    str | None,
    option("NUMBER|scale|auto", f"{_WIDTH}  [default: the data set's own for rbf, else scale]"),
]
Penalty = Annotated[float | None, flag("--C", "Penalty.  [default: the data set's own for rbf, else 1]")]
Degree = Annotated[int, option(None, "Degree of the poly kernel.")]
Coef0 = Annotated[float, option(None, "Constant of the poly and sigmoid kernels.")]
Engine = Annotated[str, one_of(_ENGINES, callback=_known_engine)]
Seeders = Annotated[str, some_of(SEEDERS, "--seeders", "--seeder")]
SeedersOrOne = Annotated[
    str | None, some_of(SEEDERS, "--seeders", "--seeder", more="  [default: one, without a comparison]")
]
Store = Annotated[Path | None, option("FILE", "Store finished parts in this file, and do not repeat them.")]
Tol = Annotated[
    float | None,
    option(
        None,
        "Stop at this KKT gap, or at this share of the decision values' range.  [default: 0.001; loo, cv and tune "
        "of a regression: times the standard deviation of the targets]",
    ),
]
CacheMB = Annotated[float, flag("--cache-mb", "Memory for kernel rows, in MiB.")]
MaxIter = Annotated[int | None, option(None, "Limit on the steps.  [default: max(10⁷, 100n)]")]
Threads = Annotated[
    int | None,
    option("N", "Number of threads; -1 means one for each core.  [default: 1]", "--n-jobs", "--jobs"),
]
TimeLimit = Annotated[float | None, option("SECONDS", "Limit on the time of a solve.")]
Json = Annotated[bool, flag("--json", "Print one JSON document.")]


Csv = Annotated[bool, flag("--csv", "Print the rows as CSV.")]
Plot = Annotated[Path | None, option("FILE", "Draw a picture, as .png or .pdf.")]
Scale = Annotated[
    bool, flag("--scale", "Scale every feature to mean 0 and standard deviation 1 over all examples.")
]
Delimiter = Annotated[
    str | None,
    option("CHAR", "Character between the cells; makes the file a table.  [default: recognised]"),
]
Task = Annotated[
    str | None,
    one_of(TASKS, "  [default: guessed from the labels; a note says so if in doubt]"),
]
Epsilon = Annotated[
    float | None,
    option(
        None,
        "Half width of a regression's tube.  [default: 0.1; tune: 0.1 times the standard deviation of the targets]",
    ),
]
Nu = Annotated[float, option(None, "Share of the examples that may be outside in novelty detection.")]
TALK: Final = (
    Parameter("quiet", Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[
        bool, Option("--quiet", "-q", help="No notes and no progress.", callback=be_quiet)]),
    Parameter("verbose", Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[
        bool, Option("--verbose", "-v", help="Also print the package's log.", callback=be_verbose)]),
)  # fmt: skip


def in_one(*without: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for a command that takes a group of options as one argument, an instance of a dataclass.

    Typer reads the options from the signature of a command, so the decorator gives Typer a signature in which the
    fields of the dataclass replace this argument. The decorator also gives every command --quiet and --verbose.

    Parameters
    ----------
    *without : str
        Fields of the dataclass that are not options of the command; these fields keep their defaults.
    **defaults
        Defaults that replace the defaults of the dataclass, also for fields in `without`.
    """

    def of_command(command: Callable[..., None]) -> Callable[..., None]:
        # turn annotations into objects, which Typer needs; `from __future__ import annotations` has made them texts
        own = get_type_hints(command, include_extras=True)
        groups: dict[str, list[Parameter]] = {}
        shown: list[Parameter] = []
        for name, parameter in signature(command).parameters.items():
            if is_dataclass(own[name]):
                groups[name] = _options_of(own[name], without, defaults)
                shown += groups[name]
            else:
                # make every parameter a keyword, so that required parameters may follow parameters with a default
                shown.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=own[name]))
        shown += TALK

        @wraps(command)
        def called(quiet: bool, verbose: bool, **options: Any) -> None:
            for name, taken in groups.items():
                # collect the values of the fields in one dataclass, which the command expects as argument
                fixed = {key: defaults[key] for key in without if key in defaults and hasattr(own[name], key)}
                options[name] = own[name](**{each.name: options.pop(each.name) for each in taken}, **fixed)
            try:
                # with --quiet, suppress the progress lines of functions that the command calls
                with line_of(Progress("refsvm"), False) if quiet else nullcontext():
                    command(**options)
            except KeyboardInterrupt:  # Typer would end without a message; Abort prints one
                raise Abort from None

        # Typer reads the types of the options from the annotations, and their order and defaults from the signature
        called.__annotations__ = {each.name: each.annotation for each in shown}
        called.__dict__["__signature__"] = Signature(shown)
        return called

    return of_command


def _options_of(group: Any, without: Container[str], defaults: Mapping[str, Any]) -> list[Parameter]:
    """Return the fields of a group of options as parameters for the signature of a command."""
    annotations = get_type_hints(group, include_extras=True)
    return [
        each.replace(
            kind=Parameter.KEYWORD_ONLY,
            annotation=annotations[name],
            default=defaults.get(name, each.default),
        )
        for name, each in signature(group).parameters.items()
        if name not in without
    ]
