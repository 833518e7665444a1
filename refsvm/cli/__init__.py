"""The command line: ``refsvm compare``, ``fit``, ``predict``, ``datasets``.

================  =====================================================================
`app`             the commands and their options
`choices`         what can be asked for by name: selectors, steps, engines, kernels
`comparison`      strategies side by side on one problem
`prediction`      labels of new data, and their accuracy
`tables`          what is printed for people, and what for programs
`messages`        notes and errors on stderr: one sentence each
================  =====================================================================
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of the process, and exit.

    The exit code is 0 if the command did its work, 2 for input it refuses, with one sentence on stderr, and 130
    after Ctrl-C.

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
