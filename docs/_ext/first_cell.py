"""The first cell of every notebook that readers download: it finds refsvm, or a wheel of it next to the notebook."""

from __future__ import annotations


def first_cell(modules: tuple[str, ...], extras: str = "") -> str:
    """Return the cell for a notebook that imports these modules; `extras` are those of the package, in brackets."""
    return f"""\
# If everything is installed, this cell does nothing. Otherwise it installs the wheel of refsvm next to this notebook.
from importlib.util import find_spec
from pathlib import Path

missing = [name for name in {modules!r} if not find_spec(name)]
if missing:
    wheels = sorted(Path().glob("refsvm-*.whl"))
    if not wheels:
        raise ModuleNotFoundError(
            f"{{', '.join(missing)}} cannot be imported: put the wheel of refsvm (refsvm-….whl) into the folder of "
            "this notebook, and run this cell again."
        )
    %pip install --quiet "{{wheels[-1].resolve()}}{extras}"
"""
