"""Old names of what rules of the user override or call: they work for one version, with a warning."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from refsvm import ATO, RBF, DualProblem, KKTGap, Restriction, leave_one_out, solve
from refsvm.core.solver.decomposition import Decomposition
from refsvm.core.solver.shrinking import NoShrinking

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.where(RNG.random(60) < 0.5, 1, -1)
PROBLEM = DualProblem.classification(X, Y, kernel=RBF(0.5), C=10.0)


def warned(name, new):
    return pytest.warns(DeprecationWarning, match=rf"{name} is called {new} from refsvm 0\.4\.0 on")


def test_old_names_are_called_with_a_warning():
    solved, rule = solve(PROBLEM, engine="numpy"), KKTGap(1e-2, relative=True)
    given = PROBLEM, solved.alpha, 0.5
    with warned("KKTGap.wanted", "tolerance_for_rounding"):
        assert rule.wanted(*given) == rule.tolerance_for_rounding(*given)
    with warned("KKTGap.absolute", "with_absolute_tolerance"):
        assert KKTGap(1e-2).absolute(None) == KKTGap(1e-2)
    with warned("ATO.is_worthwhile", "pays"):
        assert ATO(budget=np.inf).is_worthwhile(solved, 100, [np.arange(1)])
    with warned("Decomposition.inside", "for_restricted_problem"):
        assert Decomposition().inside == NoShrinking()
    with warned("Solution.where_solved", "in_solver_coordinates"):
        assert solved.where_solved() is solved


def test_what_overrides_an_old_name_is_asked_under_the_new_one_and_may_call_its_base():
    asked = []
    other = warned("Coarse.absolute", "with_absolute_tolerance")
    with other, warned("Coarse.wanted", "tolerance_for_rounding"):

        @dataclass(frozen=True)
        class Coarse(KKTGap):
            def wanted(self, problem, alpha, s):
                asked.append("wanted")
                return 10.0 * super().wanted(problem, alpha, s)

            def absolute(self, state):
                asked.append("absolute")
                return replace(super().absolute(state), tol=1e-2)

    with warned("Coarse.wanted", "tolerance_for_rounding"):
        assert Coarse(1e-3).tolerance_for_rounding(PROBLEM, np.zeros(60), 1.0) == 1e-2
    # a class of that class overrides nothing anew
    finer = type("Finer", (Coarse,), {})
    with pytest.warns(DeprecationWarning, match=r"\.absolute is called"):
        solve(PROBLEM, stop=finer(1e-4), engine="numpy")
    assert "absolute" in asked


def test_a_seeder_that_overrides_an_old_name_is_asked():
    asked = []
    with warned("Own.is_worthwhile", "pays"):

        @dataclass(frozen=True)
        class Own(ATO):
            def is_worthwhile(self, solved, steps, left_out):
                asked.append(len(left_out))
                return False

    leave_one_out(X, Y, kernel=RBF(0.5), C=10.0, seeder=Own(), checks=(), engine="numpy")
    assert asked


def test_an_old_name_in_a_class_beside_the_family_and_a_property():
    class Flat:
        @property
        def inside(self):
            return NoShrinking()

    with warned("Flat.inside", "for_restricted_problem"):

        @dataclass(frozen=True)
        class Own(Flat, Restriction):
            pass

    assert Own().for_restricted_problem == Own().inside == NoShrinking()


def test_a_new_name_above_an_old_one_counts():
    with warned("Old.absolute", "with_absolute_tolerance"):

        class Old(KKTGap):
            def absolute(self, state):
                return "old"

    class New(Old):
        def with_absolute_tolerance(self, state):
            return "new", super().with_absolute_tolerance(state)

    assert New().with_absolute_tolerance(None) == ("new", "old")


def test_an_object_with_an_old_name_for_the_error_of_its_data():
    class Words:
        n, rounding = 2, 1e-7

        def block(self, rows, columns=None):
            return np.eye(2)[rows][:, slice(None) if columns is None else columns]

    with warned("Words.rounding", "data_error") as said:
        problem = DualProblem.classification(y=[1, -1], gram=Words())
    assert problem.gram.facts.data_error == 1e-7
    assert said[0].filename == __file__
