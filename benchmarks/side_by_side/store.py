"""Finished rows on disk, so that the long problems may be measured one by one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from .results import Outcome, Row

__all__ = ["keep", "kept"]


def kept(path: Path) -> dict[str, Row]:
    """Return the rows of the file by name; none if there is no file."""
    if not path.is_file():
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {
        row["name"]: Row(
            row["name"],
            row["n"],
            row["d"],
            {name: Outcome(**found) for name, found in row["outcomes"].items()},
        )
        for row in rows
    }


def keep(path: Path, row: Row) -> None:
    """Add a row to the file, in place of an older one of the same name."""
    rows = {**kept(path), row.name: row}
    path.parent.mkdir(parents=True, exist_ok=True)
    documents = [asdict(found) for found in rows.values()]
    for found in documents:
        for outcome in found["outcomes"].values():
            outcome["labels"] = None
    path.write_text(json.dumps(documents, indent=1), encoding="utf-8")
