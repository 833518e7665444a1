"""Makes the assignments: ``python docs/_ext/assignments.py [FOLDER]``, by default docs/_build.

Each file of ``docs/assignments`` is one assignment with its solution. From it come ``assignments/NAME.ipynb``, in which
blanks stand for the solution, ``assignments/NAME_rubric.md``, and ``solutions/NAME_solution.ipynb``. A build of the
site publishes notebooks with blanks and rubrics, and makes no solutions. A file has cells in the percent format:

    # %% [markdown]    text, as comments
    # %%               code for everybody
    # %% answer        code in which the lines from "# blank: what to do" to "# end" are for lecturers
    # %% [question]    what a lecturer grades by hand, with its points: "* (3) ..."; a cell for the answer follows
    # %% [rubric]      what an answer to the questions needs for full points
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from first_cell import first_cell

from refsvm.testing.assignments import ASSIGNMENTS

SOURCES = Path(__file__).parents[1] / "assignments"
BLANK = r"(?ms)^( *)# blank: (.*?)\n.*?^ *# end$"
GRADING = """\
Your teacher grades the cells that begin with `# answer`. They may import NumPy and modules of the standard library such
as `itertools`, but not refsvm. Your own helper functions also belong into these cells, and you may add more such cells.
For each test the answers may use {seconds} seconds of processor time. Do not change the arguments of a function unless
its text says so: copy an array first. You can run the grader yourself, with other problems than your teacher's:
`python -m refsvm.testing.grade {name}.ipynb --show failed.json`. The file failed.json then holds the arguments of each
lost point. The grader gives up to {points} points. Your teacher grades the questions at the end by hand, for up to
{by_hand} points more: {total} in all.
"""


def cells_of(source: Path) -> list[tuple[str, str]]:
    """Return kind and text of each cell."""
    parts = re.split(r"(?m)^# %%(.*)\n", source.read_text(encoding="utf-8"))[1:]
    cells = [
        (kind.strip(" []") or "code", text.strip())
        for kind, text in zip(parts[::2], parts[1::2], strict=True)
    ]
    return [
        (kind, re.sub(r"(?m)^# ?", "", text) if kind in {"markdown", "question", "rubric"} else text)
        for kind, text in cells
    ]


def grading(source: Path) -> str:
    """Return what a student must know about the points."""
    points = sum(each.worth for each in ASSIGNMENTS[source.stem])
    by_hand = sum(map(int, re.findall(r"(?m)^# \* \((\d+)\)", source.read_text(encoding="utf-8"))))
    seconds = " or ".join(f"{each:g}" for each in sorted({each.seconds for each in ASSIGNMENTS[source.stem]}))
    return GRADING.format(
        name=source.stem, seconds=seconds, points=points, by_hand=by_hand, total=points + by_hand
    )


def notebook(source: Path, *, solved: bool) -> str:
    """Return the notebook of an assignment, with or without its solution."""
    cells = [cell for cell in cells_of(source) if cell[0] != "rubric"]
    cells[1:1] = [("markdown", grading(source)), ("code", first_cell(("refsvm", "numpy")))]
    asked = next(k for k, (kind, _) in enumerate(cells) if kind == "question")
    cells[asked] = ("markdown", f"## Graded by hand\n\n{cells[asked][1]}")
    cells.insert(asked + 1, ("markdown", "*Write your answer in this cell.*"))
    made = []
    for number, (kind, text) in enumerate(cells):
        if kind == "answer":
            blanked = re.sub(BLANK, r"\1# \2\n\1raise NotImplementedError", text)
            text = "# answer\n" + (re.sub(r"(?m)^ *# (?:blank: .*|end)\n?", "", text) if solved else blanked)
        cell = {
            "cell_type": "markdown" if kind == "markdown" else "code",
            "id": f"cell-{number}",
            "metadata": {},
        }
        code = {} if kind == "markdown" else {"execution_count": None, "outputs": []}
        made.append({**cell, **code, "source": text.splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "refsvm": {"assignment": source.stem}}
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def rubric(source: Path) -> str:
    """Return the points of an assignment, in Markdown."""
    points = ASSIGNMENTS[source.stem]
    rows = "".join(f"| `{each.function}` | {each.what} | {each.worth} |\n" for each in points)
    by_hand = "\n\n".join(text for kind, text in cells_of(source) if kind in {"question", "rubric"})
    return (
        f"# {source.stem}: rubric\n\n`python -m refsvm.testing.grade {source.stem}.ipynb --seed N` gives up to "
        f"{sum(each.worth for each in points)} points:\n\n| function | tested | points |\n|---|---|---:|\n{rows}\n"
        f"Graded by hand:\n\n{by_hand}\n"
    )


def sources() -> list[Path]:
    """Return the files of all assignments in their order."""
    return sorted(SOURCES.glob("[0-9][0-9]_*.py"))


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write texts to files of these names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def write_assignments(folder: Path) -> None:
    """Write the notebooks with blanks and the rubrics."""
    write(folder, {f"{source.stem}.ipynb": notebook(source, solved=False) for source in sources()})
    write(folder, {f"{source.stem}_rubric.md": rubric(source) for source in sources()})


def write_solutions(folder: Path) -> None:
    """Write the solved notebooks."""
    write(folder, {f"{source.stem}_solution.ipynb": notebook(source, solved=True) for source in sources()})


def write_files(app: Any, error: Exception | None) -> None:
    """Write the notebooks with blanks and the rubrics into the site."""
    if error is None and app.builder.format == "html":
        write_assignments(Path(app.outdir) / "assignments")


def setup(app: Any) -> dict[str, bool]:
    """Write the files at the end of a build."""
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCES.parent / "_build"
    write_assignments(place / "assignments")
    write_solutions(place / "solutions")
    print(f"{len(sources())} assignments in {place}")
