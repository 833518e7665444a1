"""A clone of the last commit, in which sources are broken."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

__all__ = ["ROOT", "cloned", "git"]

ROOT: Final = Path(__file__).resolve().parents[2]


def git(*arguments: str) -> str:
    """Return what git prints."""
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def cloned(folder: Path) -> Path:
    """Return the clone in this folder, which is made or brought up to the last commit."""
    root = folder.resolve() / "clone"
    if not root.exists():
        git("clone", "--quiet", str(ROOT), str(root))
    git("-C", str(root), "fetch", "--quiet", str(ROOT), "HEAD")
    git("-C", str(root), "reset", "--quiet", "--hard", "FETCH_HEAD")
    return root
