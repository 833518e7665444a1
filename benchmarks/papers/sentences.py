"""Draw sentences of each page, to be checked against the tables of the page by a reader other than their author.

python benchmarks/papers/sentences.py 50
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Final

PAGES: Final = Path(__file__).resolve().parents[2] / "docs" / "papers"
EACH: Final = 5
SHORTEST: Final = 70


def sentences(text: str) -> list[str]:
    """Return the sentences with a figure that stand outside of tables, headings, formulas and lists of papers."""
    body = re.sub(r"\$\$.*?\$\$", "", text.partition("\n## ")[2], flags=re.DOTALL)
    paragraphs = re.split(r"\n\s*\n", body)
    prose = [" ".join(part.split()) for part in paragraphs if not re.match(r"\s*(\||#|```)", part)]
    found = [each for part in prose for each in re.split(r"(?<=[.:;])\s+(?=[A-Z*`])", part)]
    return [
        each for each in found if re.search(r"\d", each) and len(each) >= SHORTEST and "arXiv" not in each
    ]


def main(seed: int) -> None:
    """Print the sentences of every page that has enough of them."""
    for page in sorted(PAGES.glob("*.md")):
        all_of_them = sentences(page.read_text(encoding="utf-8"))
        if page.stem not in {"code", "index"} and len(all_of_them) >= EACH:
            print(f"## {page.stem}\n")
            for each in sorted(random.Random(f"{seed} {page.stem}").sample(all_of_them, EACH)):
                print(f"* {each}")
            print()


if __name__ == "__main__":
    main(int(sys.argv[1]))
