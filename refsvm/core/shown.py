"""Shown: a result that prints as one line; `refsvm.core.doors` holds the function that makes its table and HTML.

Stamped: a result whose pickle names the version of refsvm that wrote the pickle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Final

from refsvm.core._checks import version
from refsvm.core.doors import DOORS

VERSION: Final = "refsvm version"
"""Key under which a pickled state holds the version of refsvm that wrote it."""


def ordered(text: str) -> list[int]:
    """Return the first two numbers of a version as a list, so that versions can be compared."""
    return [int(number) for number in re.findall(r"\d+", text)[:2]]


class Stamped:
    """Base of results whose pickles hold the version of refsvm that wrote them; loading checks this version."""

    needed: ClassVar[tuple[str, ...]] = ()
    """Attributes that each pickle must have, in addition to the fields of a dataclass."""

    def __getstate__(self) -> dict[str, Any]:
        return {VERSION: version(), **vars(self)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Set the attributes, unless this version of refsvm cannot use them.

        Raises
        ------
        ValueError
            If a later version of refsvm wrote the pickle, or if attributes are missing. Versions before 0.5.0 did not
            write their number into pickles.
        """
        names = [*self.needed, *getattr(self, "__dataclass_fields__", ())]
        lacks = [name for name in names if name not in state and not hasattr(type(self), name)]
        written = state.get(VERSION, "0.3.0 or earlier" if lacks else "0.4.0")
        if lacks or ordered(written) > ordered(version()):
            raise ValueError(
                f"refsvm {written} wrote this {type(self).__name__}, and refsvm {version()} cannot read it; load it "
                "with the version that wrote it, or compute it again."
            )
        vars(self).update({name: value for name, value in state.items() if name != VERSION})


class Shown(Stamped):
    """Base of results that print as one line (`repr`) or as a table of text (`str`), and as HTML in a notebook."""

    plot: ClassVar[Callable[..., Any]]
    """The method ``plot(ax=None)``, which draws the result; `refsvm` sets it to `refsvm.display.of_result.plot`."""

    def _line(self) -> str:
        """Return the text inside the parentheses of the `repr`; subclasses in `refsvm.core` override this method."""
        return DOORS.rendered(self, "line")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._line()})"

    def __str__(self) -> str:
        return DOORS.rendered(self, "text")

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        return DOORS.rendered(self, "html")


def short(thing: Any) -> str:
    """Return the `repr` of a rule, kernel or function, with numbers rounded to six digits and without memory addresses.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.core.shown import short
    >>> short(RBF(1 / 13)), short(len)
    ('RBF(gamma=0.0769231)', 'len')
    """
    if isinstance(thing, type) or not is_dataclass(thing):
        return str(getattr(thing, "__name__", type(thing).__name__))
    values = {each.name: getattr(thing, each.name) for each in fields(thing) if each.repr}
    inside = ", ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in values.items())
    return f"{type(thing).__name__}({inside})"


def named(thing: Any) -> str:
    """Return the `repr` of a rule, or the name of its class if the `repr` shows a memory address.

    Examples
    --------
    >>> from refsvm import NewtonStep
    >>> from refsvm.core.shown import named
    >>> named(NewtonStep()), named(object())
    ('NewtonStep()', 'object')
    """
    prints_address: bool = getattr(type(thing), "__repr__") is object.__repr__  # noqa: B009
    return type(thing).__name__ if prints_address else repr(thing)
