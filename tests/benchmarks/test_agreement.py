"""Whether all libraries found the same answer."""

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, solve

from .rows import row


def evidence(peers, data, factor=1.0, dtype=np.float64):
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(data.gamma), C=data.C)
    alpha = solve(problem, stop=KKTGap(1e-6), engine="numpy").alpha
    support = np.flatnonzero(alpha)
    coef = (factor * alpha[support]).astype(dtype).astype(np.float64)
    return peers("results").Evidence(support=support, coef=coef), problem.objective(alpha)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_objective_is_that_of_the_whole_problem_whichever_class_comes_first(peers, thyroid, sign):
    found, objective = evidence(peers, thyroid, factor=sign)
    assert peers("agreement").dual_objective(thyroid, found) == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_gap_is_that_on_all_examples(peers, thyroid, sign):
    found, _ = evidence(peers, thyroid, factor=sign)
    assert peers("agreement").kkt_gap(thyroid, found) <= 1e-6
    spoiled, _ = evidence(peers, thyroid, factor=0.9 * sign)
    assert peers("agreement").kkt_gap(thyroid, spoiled) > 1e-2


def test_single_precision_does_not_lift_an_objective_above_the_optimum(peers, thyroid):
    found, objective = evidence(peers, thyroid, dtype=np.float32)
    rounded = peers("agreement").dual_objective(thyroid, found)
    assert rounded == pytest.approx(objective, rel=1e-6)
    assert rounded <= objective * (1 + 1e-9)


def test_a_library_that_stops_early_is_named_and_only_that_one(peers, thyroid):
    results, agreement = peers("results"), peers("agreement")
    objectives = [
        agreement.dual_objective(thyroid, evidence(peers, thyroid, factor)[0]) for factor in (1.0, 0.99)
    ]
    outcomes = {
        name: results.Outcome(1.0, objective=value) for name, value in zip("ab", objectives, strict=True)
    }
    (sentence,) = agreement.disagreements([results.Row("thyroid", 215, 5, outcomes)])
    assert sentence.startswith("thyroid: b ends ")
    assert "a never falls short" in peers("report").objectives([results.Row("thyroid", 215, 5, outcomes)])


def test_the_report_says_if_refsvm_stops_early(peers):
    found = row(peers, "a", ours=1.0, b=1.0)
    assert peers("report").objectives([found]) == "All dual objectives agree to 1e-5, relatively."
    found.outcomes["ours"].objective = 1.0 - 2e-5
    assert "**ours is among those that fall short.**" in peers("report").objectives([found])


def test_a_library_without_a_result_disagrees_with_none(peers):
    assert peers("agreement").disagreements([row(peers, "a", ours=1.0, b="crashed: SIGSEGV")]) == []


def test_predictions_of_another_class_are_told(peers):
    found = row(peers, "a", ours=1.0, b=1.0, c=1.0)
    for name, wrong in (("ours", 0), ("b", 1), ("c", 5)):
        found.outcomes[name].labels = np.where(np.arange(100) < wrong, -1, 1)
    (sentence,) = peers("agreement").differing(found)
    assert sentence == "a: c predicts another class than ours for 5.0% of the examples."
