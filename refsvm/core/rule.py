"""Rule: base of selectors, step rules, stopping rules, seeders, trackers, shrinking and checks."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from inspect import isabstract
from numbers import Integral, Real
from types import ModuleType
from typing import Any, ClassVar, Final, TypeVar

import numpy as np

from refsvm.core._checks import hint

Kind = TypeVar("Kind", bound="Rule")


class PlainNumbers:
    """Base of frozen dataclasses of hyper-parameters: once checked, each number is kept as Python's int or float.

    A float32 factor would make float32 steps in the readable engine alone, and a count of type uint8 would overflow.
    The annotation of a field says which of both it holds.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Decomposition, KKTGap
    >>> KKTGap(np.float32(0.5)), Decomposition(10.0)
    (KKTGap(tol=0.5, relative=False), Decomposition(size=10))
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Convert after the checks of a class, whether or not they call those of its base."""
        super().__init_subclass__(**options)
        if check := vars(cls).get("__post_init__"):

            @wraps(check)
            def checked(self: Any) -> None:
                check(self)
                PlainNumbers.__post_init__(self)

            cls.__post_init__ = checked  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        for name, kinds in _kinds_of(type(self)):  # type: ignore[arg-type]  # a class can be hashed
            value: Any = getattr(self, name, None)  # a field that no argument sets may come later
            if type(value).__name__ not in kinds or isinstance(value, np.ndarray):
                object.__setattr__(self, name, _plain(value, kinds))


def _plain(value: Any, kinds: list[str]) -> Any:
    """Return a number of any type as a bool, an int or a float, whichever is meant, and any other value as it is."""
    number: Any = value[()] if isinstance(value, np.ndarray) else value  # an array without axes holds one
    if isinstance(number, bool | np.bool_):
        return bool(number)
    is_number, is_count = isinstance(number, Real), "int" in kinds or isinstance(number, Integral)
    if not is_number:
        return value
    return int(number) if is_count and "float" not in kinds and number % 1 == 0 else float(number)


@cache
def _kinds_of(cls: Any) -> list[tuple[str, list[str]]]:
    """Return the fields of a dataclass, and the names of types in each annotation."""
    words = re.compile(r"\w+")
    described = fields(cls) if is_dataclass(cls) else ()
    return [(each.name, words.findall(f"{each.type}, NoneType")) for each in described]


class Rule(PlainNumbers, ABC):
    """A frozen dataclass of hyper-parameters, which decides one thing. Its family says what, in one abstract method.

    One instance serves many solves, so it holds nothing that changes. A rule keeps its past in its memory,
    scratch space that the solver owns.

    **It may read** the state (`refsvm.core.state.SolverState`): α, G, the box, the recent steps, ``state.row(i)``;
    ``state.problem``; ``state.left_out``, the examples whose box is empty; and ``state.duality_gap()``, at the best b.

    **It may write** to its memory alone. A step that plans also writes ``state.candidates``.

    Attributes
    ----------
    example_call : str
        A member of the family, for messages.
    role : str
        The name of the signature that its twins have, in `refsvm.compiled.interface`; "" where each has its own.

    Examples
    --------
    >>> from refsvm import SecondOrder, Seeder
    >>> SecondOrder(planned_range=0.5).parameters()
    (0.5,)
    >>> Seeder.checked("seeder", SecondOrder())
    Traceback (most recent call last):
    ValueError: seeder=SecondOrder(planned_range=0.9) is not a Seeder; pass an instance of one, such as seeder=TOP().
    """

    example_call: ClassVar[str] = ""
    role: ClassVar[str] = ""
    find_twin: ClassVar[Callable[[str], Callable[..., Any] | None]] = staticmethod(lambda module: None)
    """The twin of the rule of a module, or None; `refsvm.compiled.twins` puts its own search here."""

    def parameters(self) -> tuple[float, ...]:
        """Return the hyper-parameters as the twin gets them: by default the fields that are numbers, in order."""
        values = [getattr(self, name) for name, _ in _kinds_of(type(self))]
        return tuple(float(value) for value in values if isinstance(value, int | float | np.number))

    def twin(self) -> Callable[..., Any] | None:
        """Return the Numba version, which decides the same bit for bit, or None: then the rule runs in NumPy only.

        A shipped rule has its twin where `refsvm.compiled` mirrors its own file. Compiled code computes no kernel: a
        twin gets kernel row i from ``row, there = row_or_ask(state, i)`` (`refsvm.compiled.interface.rows`). Where it
        is not there, the twin returns at once, whatever it likes, and is called again when it is.
        """
        found: Callable[..., Any] | None = type(self).find_twin(type(self).__module__)
        return found

    def memory(self, problem: Any, steps: int = 0) -> np.ndarray:
        """Return the memory that the rule needs in addition to the state: a new float64 array of any length.

        Parameters
        ----------
        problem : DualProblem
            To be solved. A seeder gets the `Solution` it starts from instead.
        steps : int
            Steps of the longest round so far; 0 where there was none.
        """
        return np.zeros(0)

    def rows_needed(self, n: int) -> int:
        """Return how many of n kernel rows the rule needs in memory at once; 0 if those of the pair are enough."""
        return 0

    @classmethod
    def checked(cls: type[Kind], name: str, rule: Any) -> Kind:
        """Return the value of argument `name` if it belongs to this family, or raise ValueError.

        A rule of the package may be given by its name on the command line, a class stands for its defaults.
        """
        return rule if isinstance(rule, cls) else cls._called(name, rule)

    @classmethod
    def _called(cls: type[Kind], argument: str, name: Any) -> Kind:
        """Return the rule that a class, or the name of a rule of this family, stands for, with its defaults."""
        if isinstance(name, type) and issubclass(name, cls) and not isabstract(name):
            return name()
        if not isinstance(name, str):
            raise ValueError(
                f"{argument}={name!r} is not a {cls.__name__}; pass an instance of one, such as "
                f"{argument}={cls.example_call}."
            )
        known = {name_of(each): each for each in _family(cls) if is_builtin(each) and not isabstract(each)}
        if name not in known:
            near = hint(name, known, f"choose from {', '.join(sorted(known))}.")
            raise ValueError(f"{argument}={name!r} is unknown; {near}")
        return known[name]()


_SHORT: Final = {"most-violating-pair": "mvp", "kktgap": "kkt-gap", "looduality-gap": "loo-duality-gap"}


def name_of(rule: type) -> str:
    """Return the name of a rule on the command line: HybridMaximumGain is hybrid-maximum-gain, NewtonStep newton.

    Examples
    --------
    >>> from refsvm import MostViolatingPair, NewtonStep
    >>> from refsvm.core.rule import name_of
    >>> name_of(MostViolatingPair), name_of(NewtonStep)
    ('mvp', 'newton')
    """
    long = re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", rule.__name__.removesuffix("Step")).lower()
    return _SHORT.get(long, long)


def _family(base: type[Kind]) -> list[type[Kind]]:
    """Return all classes below a base."""
    return [each for child in base.__subclasses__() for each in (child, *_family(child))]


@cache
def is_builtin(rule: type) -> bool:
    """Whether a rule of this type belongs to the package."""
    return rule.__module__.startswith("refsvm.")


def export(names: dict[str, Any], *lazy: str) -> None:
    """Set ``__all__`` of a package: the classes and functions that its ``__init__`` imports from the package.

    A line ``from refsvm.core.steps.newton import NewtonStep as NewtonStep`` in the ``__init__`` of the package is all
    that registers a rule: `refsvm` itself, the command line, `refsvm.warm_up`, the catalogue of the tests and the page
    of all rules read these lists. An assignment to ``__all__`` would hide the names from type checkers, which read the
    lines.

    Parameters
    ----------
    names : dict
        The names of the module, ``vars()``.
    *lazy : str
        Names that are imported when first needed.
    """
    here = [
        name
        for name, thing in names.items()
        if getattr(thing, "__module__", "").startswith("refsvm.") and thing is not export
    ]
    names["__all__"] = sorted([name for name in here if not name.startswith("_")] + [*lazy])


def rules_in(package: ModuleType) -> list[type[Any]]:
    """Return the rules, or kernels, that a package registers, without its base.

    Examples
    --------
    >>> from refsvm.core import trackers
    >>> from refsvm.core.rule import rules_in
    >>> [rule.__name__ for rule in rules_in(trackers)]
    ['Hastie', 'SVMP']
    """
    return [rule for name in package.__all__ if not isabstract(rule := getattr(package, name))]


def memory_of(rule: Rule, *of: Any) -> np.ndarray:
    """Return the memory of a rule for a new solve. Compiled code would misread another type.

    Raises
    ------
    ValueError
        If it is no float64 vector.
    """
    memory: Any = rule.memory(*of)
    if isinstance(memory, np.ndarray) and memory.dtype.char == "d" and memory.ndim == 1:
        return memory
    raise ValueError(
        f"{rule!r}.memory() returned {memory!r:.60}; it must return a float64 vector, a new one each time."
    )
