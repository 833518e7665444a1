"""Run the commands of the command line within the test process, or in a process of their own."""

import json
import os
import subprocess
import sys
from inspect import signature

from typer.testing import CliRunner

from refsvm.cli.app import app

HEADER = "a,b,kind\n"
ROWS = "0,0.5,elm\n1,0.25,oak\n0.25,0,elm\n1.5,2,oak\n1.25,1,oak\n-1,0,elm\n"


def runner(**options):
    """Keep stdout and stderr apart, which Click before 8.2 does if it is asked to."""
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    return CliRunner(**apart, **options)


def run(*arguments):
    return runner().invoke(app, [str(argument) for argument in arguments])


def works(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


def json_of(*arguments):
    return json.loads(works(*arguments, "--json").stdout)


def refused(*arguments):
    """Run what must be refused: exit code 2, nothing on stdout, one sentence on stderr. Return the sentence."""
    result = run(*arguments)
    assert_refusal(result.exit_code, result.stdout, result.stderr)
    return result.stderr


def assert_refusal(code, stdout, stderr):
    assert code == 2
    assert stdout == ""
    assert "Traceback" not in stderr
    assert "╭" not in stderr
    assert stderr.startswith("refsvm: ")
    assert stderr.count("\n") == 1
    assert stderr.endswith((".\n", "?\n"))


def process(*arguments, code=None, **more):
    start = ["-m", "refsvm"] if code is None else ["-c", code]
    # as in the shell of a user, Python buffers what it prints
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 300, "env": env}
    given.update(more)
    return subprocess.run([sys.executable, *start, *map(str, arguments)], check=False, **given)
