"""Draws pictures of a solve as SVG text, for the pages of the documentation and for notebooks without scripts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

import numpy as np

from refsvm.services.summary import counted

SIDE: Final = 160
"""Side of a picture, in SVG units."""

MARGIN: Final = 0.08
"""Margin around the examples as a share of their range; the scripts use the same number."""

STYLE: Final = (
    "text{font:12px sans-serif;fill:#222}path,polyline{fill:none;stroke:#222}rect{fill:#fff}"
    ".frame,.axis{stroke:#8a8a8a}.boundary{stroke-width:1.6}.margin,.tolerance{stroke-dasharray:4 3}"
    ".tolerance{stroke:#8a8a8a}.negative{fill:#0072b2;stroke:#0072b2}.positive{fill:#d55e00;stroke:#d55e00}"
    ".run-0{stroke:#222;stroke-width:1.6}.run-1{stroke:#d55e00;stroke-width:1.6}.title-1{fill:#b34f00}"
)
"""Colours of `strip`; the documentation's pages define their own for the same classes."""

POINTS: Final = 300
"""Largest number of points of a curve of the KKT gap."""


def ranges_around(X: np.ndarray) -> np.ndarray:
    """Return the square that a picture of the examples shows, as [[x₀, y₀], [x₁, y₁]]."""
    centre, half = (X.max(0) + X.min(0)) / 2, (0.5 + MARGIN) * float(np.ptp(X, axis=0).max())
    half = half if half > 0.0 else 1.0  # half is 0 if all examples are equal
    return np.array([centre - half, centre + half])


def nodes(ranges: np.ndarray, count: int) -> np.ndarray:
    """Return the nodes of a square grid over the square `ranges`, shape (count², 2), row by row from below."""
    across = [np.linspace(low, high, count) for low, high in ranges.T]
    return np.stack(np.meshgrid(*across), axis=-1).reshape(-1, 2)


def picture(
    X: np.ndarray, y: np.ndarray, shares: np.ndarray, h: np.ndarray, ranges: np.ndarray, levels: Sequence[int]
) -> str:
    """Return SVG elements that show contours of h and the examples; each marker's fill shows the share |α|/C.

    Parameters
    ----------
    X : ndarray of shape (n, 2)
        The examples.
    y : ndarray of shape (n,)
        Labels; examples with a negative label are drawn as circles, and other examples as triangles.
    shares : ndarray of shape (n,)
        The shares |α|/C.
    h : ndarray of shape (g², )
        Decision values at `nodes`.
    ranges : ndarray of shape (2, 2)
        Result of `ranges_around`.
    levels : sequence of int
        Values of h on the contours: 0 on the boundary, and other values on margins.
    """
    import contourpy  # matplotlib requires contourpy

    count, centre, half = round(len(h) ** 0.5), ranges.mean(axis=0), float(ranges[1, 0] - ranges[0, 0]) / 2
    scale = SIDE / (2 * half) * np.array([1, -1])
    across = [np.linspace(low, high, count) for low, high in ranges.T]
    contours = contourpy.contour_generator(x=across[0], y=across[1], z=h.reshape(count, count))
    lines = [
        f'<path class="{"boundary" if level == 0 else "margin"}" d="M'
        + "L".join(f"{x:.1f} {v:.1f}" for x, v in (line - centre) * scale + SIDE / 2)
        + '"/>'
        for level in levels
        for line in contours.lines(level)
    ]
    marks = [
        (f'<circle cx="{x:.1f}" cy="{v:.1f}" r="3.5"' if label < 0 else f'<path d="{triangle(x, v)}"')
        + f' class="{"negative" if label < 0 else "positive"}" fill-opacity="{share:.2f}"/>'
        for (x, v), label, share in zip((X - centre) * scale + SIDE / 2, y, shares, strict=True)
    ]
    return f'<rect class="frame" width="{SIDE}" height="{SIDE}"/>{"".join(lines + marks)}'


def triangle(x: float, y: float) -> str:
    """Return the marker of the positive class as an SVG path."""
    return f"M{x:.1f} {y - 4.6:.1f}l4.2 7.6h-8.4z"


def thinned(count: int, most: int) -> np.ndarray:
    """Return at most `most` of the numbers 0 … count − 1, evenly spaced, including the first and the last number."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def curves(gaps: Sequence[np.ndarray], tolerance: float) -> str:
    """Return SVG elements that show ψ after every step of one or several runs, on a logarithmic scale."""
    longest = max(max(len(each) for each in gaps) - 1, 1)
    floor = np.log10(max(tolerance, 1e-15)) - 0.4
    tops = [float(each.max()) for each in gaps]
    ceiling = max(np.log10(max(*tops, tolerance, 1e-15)), floor + 1.0)
    left, bottom = 24, SIDE - 18

    def place(k: np.ndarray, gap: np.ndarray) -> np.ndarray:
        height = (np.log10(np.maximum(gap, 10.0**floor)) - floor) / (ceiling - floor)
        return np.column_stack([left + k / longest * (SIDE - left), bottom - height * (bottom - 6)])

    lines = []
    for r, each in enumerate(gaps):
        k = thinned(len(each), POINTS)
        text = " ".join(f"{x:.1f},{v:.1f}" for x, v in place(k, each[k]))
        lines.append(f'<polyline class="run-{r}" points="{text}"/>')
    [[_, level]] = place(np.zeros(1), np.array([tolerance]))
    return (
        f'<path class="axis" d="M{left} 6V{bottom}H{SIDE}"/><path class="tolerance" d="M{left} {level:.1f}H{SIDE}"/>'
        f'{"".join(lines)}<text x="4" y="16">ψ</text><text x="4" y="{level + 4:.1f}">ε</text>'
        f'<text x="{SIDE}" y="{SIDE - 3}" text-anchor="end">{counted(longest, "step")}</text>'
    )


def strip(rows: Sequence[tuple[str, Sequence[tuple[str, str]]]], words: str) -> str:
    """Return rows of pictures as a single HTML image, which viewers of notebooks show without running a script.

    Parameters
    ----------
    rows : sequence of (title, pictures)
        The rows; each picture is a pair of SVG elements and a caption.
    words : str
        Description of the whole image, for its alternative text.
    """
    across, down = SIDE + 14, SIDE + 46
    width = max(len(pictures) for _, pictures in rows) * across
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{len(rows) * down}">'
        f'<style>{STYLE}</style><rect width="100%" height="100%"/>{"".join(_rows(rows, across, down))}</svg>'
    )
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{data}">'


def _rows(rows: Sequence[tuple[str, Sequence[tuple[str, str]]]], across: int, down: int) -> Iterator[str]:
    for r, (title, pictures) in enumerate(rows):
        yield f'<text class="title-{r}" x="7" y="{r * down + 15}">{escape(title)}</text>'
        for k, (drawn, caption) in enumerate(pictures):
            yield (
                f'<svg x="{7 + k * across}" y="{r * down + 22}" width="{SIDE + 1}" height="{down - 22}">{drawn}'
                f'<text x="{SIDE / 2}" y="{SIDE + 15}" text-anchor="middle">{escape(caption)}</text></svg>'
            )
