"""Rule: the base class of selectors, step rules, stopping rules, seeders, trackers and shrinking."""

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
    """Base of the frozen dataclasses of hyper-parameters; converts their numbers to Python int or float.

    If a hyper-parameter stayed float32, the readable engine would compute in float32, and compiled code in float64. A
    count that stayed uint8 could overflow. The annotation of a field says whether the field holds an int or a float.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Decomposition, KKTGap
    >>> KKTGap(np.float32(0.5)), Decomposition(10.0)
    (KKTGap(tol=0.5, relative=False), Decomposition(size=10))
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Make each subclass convert its numbers after its own ``__post_init__`` has checked them."""
        super().__init_subclass__(**options)
        if check := vars(cls).get("__post_init__"):

            @wraps(check)
            def checked(self: Any) -> None:
                check(self)
                PlainNumbers.__post_init__(self)

            cls.__post_init__ = checked  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        for name, kinds in _kinds_of(type(self)):  # type: ignore[arg-type]  # mypy overlooks that classes are hashable
            value: Any = getattr(self, name, None)  # a field with init=False may still lack a value
            if type(value).__name__ not in kinds or isinstance(value, np.ndarray):
                object.__setattr__(self, name, _plain(value, kinds))


def _plain(value: Any, kinds: list[str]) -> Any:
    """Convert a number of any type to the bool, int or float that `kinds` names; return other values unchanged."""
    number: Any = value[()] if isinstance(value, np.ndarray) else value  # an array without axes is one number
    if isinstance(number, bool | np.bool_):
        return bool(number)
    is_number, is_count = isinstance(number, Real), "int" in kinds or isinstance(number, Integral)
    if not is_number:
        return value
    return int(number) if is_count and "float" not in kinds and number % 1 == 0 else float(number)


@cache
def _kinds_of(cls: Any) -> list[tuple[str, list[str]]]:
    """Return the name of each field of a dataclass, with the names of the types in the field's annotation."""
    words = re.compile(r"\w+")
    described = fields(cls) if is_dataclass(cls) else ()
    return [(each.name, words.findall(f"{each.type}, NoneType")) for each in described]


class Rule(PlainNumbers, ABC):
    """A frozen dataclass of hyper-parameters with one method that makes a decision, such as which pair moves next.

    A family is a subclass of `Rule`, such as `refsvm.WorkingSetSelector`. One instance of a rule serves many solves, so
    the instance holds nothing that changes. If a rule must remember numbers from step to step, it writes them to its
    memory, an array that the solver keeps for the rule.

    **A rule may read** the state (`refsvm.core.state.SolverState`): α, G, the box, the recent steps, ``state.problem``,
    the kernel row ``state.row(i)``, the left-out examples ``state.left_out``, and ``state.duality_gap()``.

    **A rule may write** only to its memory. A planning step also writes ``state.candidates``.

    Attributes
    ----------
    example_call : str
        Text of a call that makes a rule of this family; error messages show it as an example.
    role : str
        Name of the signature in `refsvm.compiled.interface` that the compiled versions of all rules of the family
        share; "" if each compiled version has its own signature.

    Examples
    --------
    >>> from refsvm import SecondOrder, Seeder
    >>> SecondOrder(planned_range=0.5).parameters()
    (0.5,)
    >>> Seeder.checked("seeder", SecondOrder())
    Traceback (most recent call last):
    ValueError: seeder=SecondOrder(planned_range=0.9) is not a Seeder; pass an instance, such as seeder=TOP().
    """

    example_call: ClassVar[str] = ""
    role: ClassVar[str] = ""
    find_twin: ClassVar[Callable[[str], Callable[..., Any] | None]] = staticmethod(lambda module: None)
    """Function that finds a rule's compiled twin by the rule's module; `refsvm.compiled.twins` sets it."""

    def parameters(self) -> tuple[float, ...]:
        """Return the hyper-parameters for the compiled version: by default all fields that are numbers, in order."""
        values = [getattr(self, name) for name, _ in _kinds_of(type(self))]
        return tuple(float(value) for value in values if isinstance(value, int | float | np.number))

    def twin(self) -> Callable[..., Any] | None:
        """Return the Numba version of the rule, which makes the same decisions bit for bit, or None if it is missing.

        The compiled version (twin) of a shipped rule is in `refsvm.compiled`, in the file with the same path as the
        rule's file. Compiled code does not compute kernel values: a twin gets kernel row i from ``row, there =
        row_or_ask(state, i)`` (`refsvm.compiled.interface.rows`). If `there` is False, the twin must return at once,
        with any value; the loop calls the twin again when the row has been computed.
        """
        twin: Callable[..., Any] | None = type(self).find_twin(type(self).__module__)
        return twin

    def memory(self, problem: Any, steps: int = 0) -> np.ndarray:
        """Return the memory that the rule needs for one solve: a new float64 array of any length.

        Parameters
        ----------
        problem : DualProblem
            The problem to solve; for a seeder, the `Solution` from which it starts.
        steps : int
            Number of steps of the longest round so far; 0 before the first round.
        """
        return np.zeros(0)

    def rows_needed(self, n: int) -> int:
        """Return how many of n kernel rows the rule needs in memory at once; 0 if the two rows of the pair suffice."""
        return 0

    @classmethod
    def checked(cls: type[Kind], name: str, rule: Any) -> Kind:
        """Return the rule given for argument `name`, or raise ValueError if it does not belong to this family.

        `rule` may also be a class, or the name that a rule of the package has on the command line; the rule is then
        made with its default hyper-parameters.
        """
        return rule if isinstance(rule, cls) else cls._called(name, rule)

    @classmethod
    def _called(cls: type[Kind], argument: str, name: Any) -> Kind:
        """Make a rule from a class of this family or from a rule's name, with default hyper-parameters."""
        if isinstance(name, type) and issubclass(name, cls) and not isabstract(name):
            return name()
        if not isinstance(name, str):
            raise ValueError(
                f"{argument}={name!r} is not a {cls.__name__}; pass an instance, such as "
                f"{argument}={cls.example_call}."
            )
        known = {name_of(each): each for each in _family(cls) if is_builtin(each) and not isabstract(each)}
        if name not in known:
            near = hint(name, known, f"choose from {', '.join(sorted(known))}.")
            raise ValueError(f"{argument}={name!r} is unknown; {near}")
        return known[name]()


_SHORT: Final = {"most-violating-pair": "mvp", "kktgap": "kkt-gap", "looduality-gap": "loo-duality-gap"}


def name_of(rule: type) -> str:
    """Return the name of a rule on the command line: HybridMaximumGain → hybrid-maximum-gain, NewtonStep → newton.

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
    """Return all subclasses of a base class, at any depth."""
    return [each for child in base.__subclasses__() for each in (child, *_family(child))]


@cache
def is_builtin(rule: type) -> bool:
    """Return True if the class `rule` is one of the package's own rules."""
    return rule.__module__.startswith("refsvm.")


def export(names: dict[str, Any], *lazy: str) -> None:
    """Set ``__all__`` of a folder's ``__init__`` to the classes and functions that it imports from the folder's files.

    To register a rule, add one line to the ``__init__`` of its folder, such as ``from refsvm.core.steps.newton import
    NewtonStep as NewtonStep``. `refsvm` itself, the command line, `refsvm.warm_up`, the tests' catalogue and the
    documentation's page of all rules read ``__all__``. An assignment to ``__all__`` would hide the imported names from
    type checkers, so the ``__init__`` calls this function instead.

    Parameters
    ----------
    names : dict
        All names in the ``__init__``: ``vars()``.
    *lazy : str
        Names that are imported only when they are first used.
    """
    own = [
        name
        for name, thing in names.items()
        if getattr(thing, "__module__", "").startswith("refsvm.") and thing is not export
    ]
    names["__all__"] = sorted([name for name in own if not name.startswith("_")] + [*lazy])


def rules_in(package: ModuleType) -> list[type[Any]]:
    """Return the rules or kernels that a folder's ``__init__`` registers, without their base class.

    Examples
    --------
    >>> from refsvm.core import trackers
    >>> from refsvm.core.rule import rules_in
    >>> [rule.__name__ for rule in rules_in(trackers)]
    ['Hastie', 'SVMP']
    """
    return [rule for name in package.__all__ if not isabstract(rule := getattr(package, name))]


def memory_of(rule: Rule, *of: Any) -> np.ndarray:
    """Return the memory of a rule for a new solve, after checking that it is a float64 vector, as compiled code needs.

    Raises
    ------
    ValueError
        If the memory is not a float64 vector.
    """
    memory: Any = rule.memory(*of)
    if isinstance(memory, np.ndarray) and memory.dtype.char == "d" and memory.ndim == 1:
        return memory
    raise ValueError(
        f"{rule!r}.memory() returned {memory!r:.60}; it must return a float64 vector, a new vector at each call."
    )
