"""What the sentences of the pages quote, code and numbers, and whether it stands in what the page shows.

* A snippet in ``double backticks`` stands in code that the page has printed above it.
* A number in a sentence stands in the code next to it or in what that code has printed. Words from ten up are
  numbers too.

The numbers of the chapters are checked while the documentation is built, where their outputs are; everything else by
``tests/docs/test_prose.py``. `EXCEPTIONS` are what a page says on other grounds, with the reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from math import prod
from typing import NamedTuple

from source_lines import ROOT, shown

__all__ = ["EXCEPTIONS", "Block", "of_markdown", "of_script", "stale", "unsaid_numbers", "unsaid_snippets"]

COUNTED, MEASURED = "a count of the text itself", "measured by the script that the page names"
EXCEPTIONS = {
    "01_the_widest_street": {"to ten thousand points": "a size", "Ten thousand examples": "the same"},
    "07_which_pair": {"2,834,352 cases": "counted by the authors; tests/theorems count again"},
    "09_does_it_end": {
        "some tens of thousands of examples": "advice that rests on that table",
    },
    "13_seeds_and_folds": {"ten folds, say, or twenty values": "examples of related problems"},
    "14_straight_lines": {"thirty lines of NumPy": COUNTED},
    "01_add_your_own_rule": {
        "``@njit``": "the decorator of Numba", "``state.now[0]``": "what twins read, as the contract lists it",
        "``may_refuse = True``": "a line to write",
    },
    "many_models": {"take 69,950 steps in place of 39,332": "run once, as shown, and compared with the default"},
    "data": {"ten small sets": "the table below lists them", "with 17 digits": "the format of the writer"},
    "experiments": {"if this bound is above 0.01": "a threshold of the table, `experiment.chance`"},
    "getting_started": {"has spent about 0.2 s on solving": "a constant of `compiled.auto`"},
    "what_if": {"With waveform's 5,000 examples": MEASURED},
}  # fmt: skip
"""Of each page the numbers and snippets that no code next to them shows, and what they rest on."""

UNITS = dict(
    zip(["two", "three", "four", "five", "six", "seven", "eight", "nine"], range(2, 10), strict=True)
)
TENS = {word: 10 * (k + 1) for k, word in enumerate(
    ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
)}  # fmt: skip
NUMBERS = UNITS | TENS | {"hundred": 100, "thousand": 1000, "million": 10**6}
IN_WORDS = re.compile(rf"(?i)\b(?:{'|'.join(NUMBERS)})(?:[ -](?:{'|'.join(NUMBERS)}))*\b")
"""Numbers in words; those below ten count what the sentence itself lists."""

NO_COUNT = re.compile(
    r"""(?x)
      ``.*?`` | :[\w:]+:`[^`]*` | `[^`\n]*` | \$\$.*?\$\$ | \$[^$]+?\$                 # code, roles, formulas
    | \b(?i:chapters?|exercises?|theorem|lemma|figure|algorithm|table|equations?)\s+\d[\d.]*(?:(?:,|\sto|\sand)\s\d+)*
    | §\s?[\d.]+ | \[[^\]]*\]\([^)]*\) | \b(?:1[89]|20)\d\d\b | \b(?:JMLR|NIPS|version)\s[\d.]+    # places, years
    | ^\s*\d+\.\s | ^\d+\s· | [^\W\d]\d+ | \b\d+\.\d+\.\d+\b                                # items, headings, names
    """,
    re.MULTILINE | re.DOTALL,
)
DIRECTIVES = re.compile(r"(?m)^ *(?:\.\. (?!fold)\S+::.*\n(?:(?: +.*)?\n)*)")


class Block(NamedTuple):
    """A piece of a page: ``"text"`` or ``"code"``, what stands there, and what the code printed."""

    kind: str
    text: str
    printed: str = ""


def of_markdown(page: str) -> list[Block]:
    """Return the paragraphs next to the examples of a page, and the examples."""
    blocks = []
    for k, part in enumerate(re.split(r"(?ms)^```python\n(.*?)^```$", page)):
        if k % 2:
            blocks.append(Block("code", part))
        else:
            paragraphs = re.split(r"\n\s*\n", part.strip())
            blocks.append(Block("text", "\n\n".join(dict.fromkeys([paragraphs[0], paragraphs[-1]]))))
    return blocks


def of_script(blocks: list, outputs: list[str]) -> list[Block]:
    """Return the blocks of a script as sphinx-gallery splits it, with what each has printed."""
    pairs = zip(blocks, outputs, strict=True)
    return [Block(each.type, each.content, "".join(each_output)) for each, each_output in (
        (block, re.findall(r"(?s)\.\. code-block:: none\n(.*?)(?=\n\S|\Z)", output)) for block, output in pairs
    )]  # fmt: skip


def tokens(text: str) -> Iterator[tuple[str, set[float]]]:
    """Yield each number as it is written and the values that it may stand for: 97 % is 97 or 0.97."""
    text = re.sub(r"(?<=\d)[,_](?=\d{3}\b)", "", text)
    for digits, percent in re.findall(r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)(\s?%)?", text):
        yield (
            digits + percent,
            {float(digits), round(float(digits) / 100, 12)} if percent else {float(digits)},
        )
    for phrase in IN_WORDS.findall(text):
        words = re.split("[ -]", phrase.lower())
        if len(words) > 1 or words[0] not in UNITS:
            yield phrase, {float(prod(NUMBERS[word] for word in words))}


def spared(page: str, text: str) -> str:
    """Return a text without the phrases that are exceptions."""
    for phrase in EXCEPTIONS.get(page, {}):
        text = re.sub(r"\s+".join(map(re.escape, phrase.split())), " ", text)
    return text


def unsaid_numbers(page: str, blocks: list[Block]) -> list[str]:
    """Return the numbers in the sentences of a page that the code next to them neither holds nor prints."""
    missing = []
    blocks = [block for block in blocks if block.text.strip()]
    for k, block in enumerate(blocks):
        if block.kind != "text":
            continue
        before, after = reversed(blocks[:k]), blocks[k + 1 :]
        beside = [
            each for side in (before, after) for each in takewhile(lambda each: each.kind == "code", side)
        ]
        if not beside:
            continue
        steppers = "40" if ".. stepper::" in block.text else ""  # examples of a stepper
        known = "\n".join([f"{each.text}\n{each.printed}" for each in beside] + [steppers])
        values = {value for _, each in tokens(known) for value in each}
        prose = NO_COUNT.sub(" ", spared(page, DIRECTIVES.sub(" ", block.text + "\n")))
        missing += [number for number, meant in tokens(prose) if not meant & values]
    return missing


@cache
def names_of_the_package() -> set[str]:
    """Return all names in the source of the package."""
    files = sorted((ROOT / "refsvm").rglob("*.py"))
    return {name for file in files for name in re.findall(r"\w+", file.read_text(encoding="utf-8"))}


def invites(snippet: str) -> bool:
    """Whether a snippet names something or calls it, as ``rows=1`` or ``select(state)`` do, and quotes no line."""
    try:
        tree = ast.parse(re.sub(r"^(\w+)=(?!=)", r"\1 = ", snippet.replace("…", "...")))
    except SyntaxError:
        return False
    (line,) = tree.body or [ast.Pass()]
    named = isinstance(line, ast.Assign) and "=" in snippet and " = " not in snippet
    return named or (
        isinstance(line, ast.Expr) and isinstance(line.value, ast.Name | ast.Attribute | ast.Call)
    )


def unsaid_snippets(page: str, blocks: list[Block]) -> list[str]:
    """Return the snippets that quote no code printed above them, or name what the package and the page do not have."""
    own = " ".join(" ".join(block.text for block in blocks if block.kind == "code").split())
    above, missing = "", []
    for block in blocks:
        if block.kind != "text":
            continue
        for part in re.split(r"(?m)(^ *\.\. shipped:: .*\n(?: +:.*\n?)*)", spared(page, block.text + "\n")):
            directive = re.match(r" *\.\. shipped:: (\S+)\n((?: +:.*\n?)*)", part)
            if directive:
                above += " " + printed(directive[1], directive[2])
                continue
            for snippet in re.findall(r"(?s)``(.+?)``", part):
                quoted = " ".join(snippet.split())
                names = set(re.findall(r"[^\W\d]\w*", re.sub(r"\"[^\"]*\"", "", quoted)))
                is_known = invites(quoted) and names <= names_of_the_package() | set(re.findall(r"\w+", own))
                if not is_known and quoted not in above and quoted not in own:
                    missing.append(quoted)
    return missing


def printed(path: str, options: str) -> str:
    """Return the code that a directive prints, on one line."""
    names = re.search(r":object: (.*)", options)
    lines = ["", *(ROOT / "refsvm" / path).read_text(encoding="utf-8").splitlines()]
    numbers = shown(f"refsvm/{path}", names[1].split() if names else [])
    return " ".join(" ".join(lines[number] for number in numbers).split())


def stale(page: str, text: str) -> list[str]:
    """Return the exceptions of a page that its text does not hold any more."""
    text = " ".join(re.sub(r"(?m)^# ?", "", text).split())
    return [phrase for phrase in EXCEPTIONS.get(page, {}) if phrase not in text]
