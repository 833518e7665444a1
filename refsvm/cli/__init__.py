"""The command line: ``refsvm compare``, ``fit``, ``predict``, ``cv``, ``tune``, ``loo``, ``path``, ``datasets`` ….

===================  ======================================================================================
`app`                the group of commands; registers each by one line
`compare` …          one command a file
`options`            arguments and options that several commands share, one by one or several in one
`data`               options of a training: open the data, choose kernel and C, say what they are
`choices`            what can be asked for by name: selectors, steps, stopping rules, seeders, engines
`comparison`         strategies side by side on one problem, or on several in several orders: an experiment
`comparison_tables`  the tables of a comparison, as wide as the terminal
`tables`             what is printed for people, and what for programs; progress
`pictures`           what is drawn
`messages`           notes and errors on stderr: one sentence each
===================  ======================================================================================

To add a command ``refsvm margin``:

1. Write ``cli/margin.py`` with one function ``margin``. Its first docstring line is the help text. Its arguments are
   options; those that other commands have too are taken from `options` one by one, and those of a training together:
   ``@options.in_one()`` above ``def margin(data: options.Data, *, training: Training, output: Output)``.
2. Open the data and choose kernel and C by ``training.opened``. Raise ValueError with one sentence for bad input:
   `messages` prints it and exits with code 2. Print the result by
   ``output.show``, and anything else on stderr by ``messages.note``.
3. Register it in `app`, in the tuple at its end.
4. Test it in ``tests/cli/test_margin.py`` with ``works``, ``refused`` and ``json_of`` of ``tests/cli/commands.py``.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of the process, and exit.

    The exit code is 0 if the command did its work, 2 for input it refuses, with one sentence on stderr, 3 for a fit
    that did not converge, and 130 after Ctrl-C.

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
