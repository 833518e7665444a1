"""The picture of README and of the first page: one machine while it is trained, drawn by the package.

It stands in the repository, because a README has no build; the build draws it again.
"""

from __future__ import annotations

from pathlib import Path

from stepper_page import DATA, Stepper, alphas, gram, picture

from refsvm.display.strip import SIDE

__all__ = ["FILE", "drawn", "moments"]

FILE = Path(__file__).parents[1] / "_static" / "front.svg"
OPTIONS = Stepper(C=10.0, selector="second-order")
LOOK = """
svg { font: 12px system-ui, sans-serif; } .frame { fill: #fff; stroke: #999; }
.boundary { stroke: #222; stroke-width: 2; }
.margin { stroke: #222; stroke-dasharray: 4 3; } .boundary, .margin { fill: none; }
.negative { fill: #0072b2; stroke: #0072b2; } .positive { fill: #d55e00; stroke: #d55e00; }
"""


def moments() -> list[int]:
    """Return the numbers of steps that are shown, the last one at the end of the solve."""
    examples = DATA[OPTIONS.data](OPTIONS.n, rng=OPTIONS.seed)
    last = sum(1 for _ in alphas(gram(examples.X, OPTIONS.gamma), examples.y, OPTIONS)) - 1
    return [1, 16, last]


def drawn() -> str:
    """Return the picture as an SVG of three panels."""
    examples = DATA[OPTIONS.data](OPTIONS.n, rng=OPTIONS.seed)
    states = list(alphas(gram(examples.X, OPTIONS.gamma), examples.y, OPTIONS))
    panels = []
    for k, steps in enumerate(moments()):
        figure = picture(examples, OPTIONS.gamma, *states[steps], OPTIONS.C, "")
        inner = figure.split(">", 2)[2].split("</svg>")[0].replace("/><", "/>\n<")
        words = f"after {steps} step{'s' * (steps > 1)}"
        panels.append(
            f'<g transform="translate({k * (SIDE + 12) + 1} 1)">{inner}\n'
            f'<text x="{SIDE / 2:g}" y="{SIDE + 18}" text-anchor="middle">{words}</text></g>'
        )
    size = f"{3 * SIDE + 26} {SIDE + 26}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}"><style>{LOOK}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{"".join(panels)}</svg>\n'
    )


def draw_front() -> None:
    """Write the picture where it differs."""
    text = drawn()
    if not FILE.is_file() or FILE.read_text(encoding="utf-8") != text:
        FILE.write_text(text, encoding="utf-8")
