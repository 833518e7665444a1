"""The command line: ``refsvm compare``, ``fit``, ``predict``, ``cv``, ``tune``, ``loo``, ``path``, ``datasets`` ….

===================  ======================================================================================
`app`                the group of commands; one line registers each command
`compare` …          one file for each command
`options`            arguments and options that several commands share
`data`               the options of a training; opens the data, chooses kernel and C, describes the problem
`choices`            names of selectors, steps, stopping rules, seeders and engines
`comparison`         solves one problem, or several problems in several orders, by several strategies
`comparison_tables`  the tables of a comparison, as wide as the terminal
`tables`             output for people and for programs; progress
`pictures`           plots
`messages`           notes and errors on stderr, one sentence each
===================  ======================================================================================

To add a command ``refsvm margin``:

1. Write ``cli/margin.py`` with one function ``margin``. The first line of the function's docstring is the help text,
   and its arguments are the options. Take options that other commands have from `options`. To give the command all
   options of `Training` and `Output`, put ``@options.in_one()`` above
   ``def margin(data: options.Data, *, training: Training, output: Output)``.
2. Open the data and choose kernel and C with ``training.opened``. If the input is bad, raise a ValueError: `messages`
   prints its message, one sentence, and exits with code 2. Print the result with ``output.show``, and everything that
   belongs on stderr with ``messages.note``.
3. Register the command in the tuple at the end of `app`.
4. Test the command in ``tests/cli/test_margin.py`` with ``works``, ``refused`` and ``json_of`` of
   ``tests/cli/commands.py``.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of the process, and exit.

    The exit code is 0 if the command succeeded, 2 if it refused its input (with one sentence on stderr), 3 if a fit
    did not converge, and 130 after Ctrl-C.

    Examples
    --------
    >>> import subprocess, sys
    >>> command = [sys.executable, "-m", "refsvm", "--version"]
    >>> subprocess.run(command, check=True, capture_output=True, text=True).stdout
    'refsvm ...'
    """
    missing = [name for name in ("typer", "rich", "sklearn") if find_spec(name) is None]
    if missing:
        sys.stderr.write(f"refsvm: The command line needs {' and '.join(missing)}; install refsvm[cli].\n")
        raise SystemExit(2)
    try:
        from refsvm.cli.app import app
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    app(prog_name="refsvm")
