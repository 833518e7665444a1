"""Draw sentences of the pages, to be checked by a reader other than their author.

python benchmarks/papers/sentences.py 50              five with a figure of each page of a paper
python benchmarks/papers/sentences.py 51 --site 40    so many of README, pages, chapters and docstrings together
python benchmarks/papers/sentences.py 51 --site 20 --only refsvm/ tutorials/     of docstrings and chapters alone
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = ROOT / "docs" / "papers"
EACH: Final = 5
SHORTEST: Final = 70


def sentences(text: str) -> list[str]:
    """Return the sentences that stand outside of tables, headings, formulas and code."""
    body = re.sub(r"(?ms)\$\$.*?\$\$|^```.*?^```|^:::.*?$|^ *\.\. \S+::.*\n(?:(?: {3,}.*)?\n)*", "", text)
    paragraphs = re.split(r"\n\s*\n|\n(?=[*-] )", body)
    prose = [" ".join(part.split()) for part in paragraphs if not re.match(r"\s*(\||#|<|=|>>>)", part)]
    found = [each for part in prose for each in re.split(r"(?<=[.:;?!])\s+(?=[A-Z*`{\[])", part)]
    return [each for each in found if len(each) >= SHORTEST and not re.search("arXiv|-{4}|one core of", each)]


def text_of_chapter(script: str) -> str:
    """Return the text of a script of the book: its docstring, and its comments that are no part of code."""
    docstring, _, rest = script.removeprefix('"""').partition('"""')
    blocks = re.findall(r"(?m)^# %%\n((?:#.*\n)+)", rest)
    return "\n\n".join([docstring, *(re.sub(r"(?m)^# ?", "", block) for block in blocks)])


def text_of_module(source: str) -> str:
    """Return the docstrings of what a module makes public, without headings and examples, and the help of a command."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = list(ast.walk(ast.parse(source)))
    public = [node for node in nodes if isinstance(node, documented) and getattr(node, "name", "")[:1] != "_"]
    docstrings = [ast.get_docstring(node) or "" for node in public]
    helps = [
        node.value for node in nodes if isinstance(node, ast.keyword) and node.arg in {"help", "description"}
    ]
    said = [each.value for each in helps if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    examples = r"(?m)^ *>>>.*(?:\n.*\S.*)*|^\w[^\n]*\n-{3,}$|^\w+(?:, \w+)* : .*$"
    return "\n\n".join(re.sub(examples, "\n", each) for each in [*docstrings, *said])


def of_papers(seed: int) -> None:
    """Print some sentences with a figure of every page of a paper that has enough of them."""
    for page in sorted(PAGES.glob("*.md")):
        all_of_them = sentences(page.read_text(encoding="utf-8").partition("\n## ")[2])
        with_figure = [each for each in all_of_them if re.search(r"\d", each)]
        if page.stem not in {"code", "index"} and len(with_figure) >= EACH:
            print(f"## {page.stem}\n")
            for each in sorted(random.Random(f"{seed} {page.stem}").sample(with_figure, EACH)):
                print(f"* {each}")
            print()


def of_site(seed: int, count: int, only: tuple[str, ...]) -> None:
    """Print so many sentences of all pages, chapters and public docstrings, each under its page."""
    texts = {
        page: page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    }
    texts |= {page: text.partition("\n## ")[2] for page, text in texts.items() if page.parent == PAGES}
    texts |= {page: text_of_chapter(page.read_text(encoding="utf-8")) for page in ROOT.glob("tutorials/*.py")}
    texts |= {page: text_of_module(page.read_text(encoding="utf-8")) for page in ROOT.glob("refsvm/**/*.py")}
    written = {"_static", "_build", "gallery", "generated"}  # by scripts, or by the build
    drawn = [
        (str(page.relative_to(ROOT)), each)
        for page in sorted(texts)
        if not written & set(page.relative_to(ROOT).parts) and str(page.relative_to(ROOT)).startswith(only)
        for each in sentences(texts[page])
    ]
    print(f"Of {len(drawn)} sentences:\n")
    for page, each in sorted(random.Random(seed).sample(drawn, count)):
        print(f"* `{page}`: {each}")


def main() -> None:
    """Draw, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("--site", type=int, metavar="COUNT", help="of all pages, not of the papers' alone")
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="PATH", help="of files whose path begins so"
    )
    options = parser.parse_args()
    if options.site:
        of_site(options.seed, options.site, tuple(options.only))
    else:
        of_papers(options.seed)


if __name__ == "__main__":
    main()
