"""The scripts that regenerate the papers' tables run, in their smallest setting."""

import argparse
import importlib
import os
import re
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest

from .programs import printed_by

for needed in ("numba", "scipy", "sklearn", "tabulate"):
    pytest.importorskip(needed)

SCRIPTS = Path(__file__).parents[1] / "benchmarks" / "papers"
PAGES = Path(__file__).parents[1] / "docs" / "papers"
TESTS = Path(__file__).parent
SCRIPT_OF = {
    "alpha_seeding": "alpha_seeding.py", "leave_one_out": "loo_stopping.py", "maximum_gain": "maximum_gain.py",
    "planning_ahead": "planning_ahead.py", "svmp": "svmp.py",
}  # fmt: skip
PRINTED = {  # the tables and figures of the five papers
    "alpha_seeding": ["Table 1", "Table 2", "Table 3", "Figure 1", "Figure 2"],
    "leave_one_out": ["Table 1", "Table 2", "Table 3", "Figure 1"],
    "maximum_gain": [*(f"Table {i}" for i in range(1, 8)), *(f"Figure {i}" for i in range(1, 8))],
    "planning_ahead": ["Table 1", "Table 2", *(f"Figure {i}" for i in range(1, 5))],
    "svmp": ["Table I", "Table II", "Table III", "Table IV", "Figure 1"],
}
VERDICTS = ("as printed", "otherwise", "not")


def cells(page):
    """The rows of all tables of a page, without headings and rules."""
    lines = (PAGES / page).read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if not set("".join(row)) <= set("-: ")]


@pytest.fixture
def script(monkeypatch):
    """Import a module of the scripts."""
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module


def named(target):
    """What a dotted name names: a module, or what is in it."""
    parts = target.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{target} is no module")


def test_every_entry_of_the_map_exists():
    rows = cells("code.md")[1:]
    assert len(rows) > 35
    for _, there, here, test in rows:
        assert there
        targets, tests = re.findall(r"\{\w+\}`~?([\w.]+)`", here), re.findall(r"`([\w/]+\.py)::(\w+)`", test)
        assert targets, here
        assert tests, test
        for target in targets:
            assert named(target).__doc__, target
        for file, function in tests:
            assert f"\ndef {function}(" in (TESTS / file).read_text(encoding="utf-8"), f"{file}::{function}"


def test_every_entry_of_the_map_has_a_mutation():
    """The audit "broken_map" replaces a text in a file; it should be there, once."""
    root = TESTS.parent
    text = (root / "benchmarks" / "audit" / "broken_map.toml").read_text(encoding="utf-8")
    mutations = tomllib.loads(text)
    assert set(mutations) == {there for _, there, *_ in cells("code.md")[1:]}
    for file, texts in (each for files in mutations.values() for each in files.items()):
        for old, new in texts:
            assert old != new
            assert (root / file).read_text(encoding="utf-8").count(old) == 1, (file, old)


def test_the_list_has_every_table_and_figure_of_the_papers():
    listed = {}
    of_papers = [row for row in cells("index.md")[1:] if len(row) == 4]
    for page, what, verdict, _ in of_papers:
        assert verdict.startswith(VERDICTS), (page, what, verdict)
        listed.setdefault(re.search(r"\((\w+)\.md\)", page)[1], []).append(what)
    assert listed == PRINTED


@pytest.mark.parametrize("page", [*sorted(SCRIPT_OF), "conjugate"])
def test_the_headlines_are_those_of_the_tables_below(page, script):
    """Each claim has figures of ours and a verdict; written anew the page is the same, so no figure is typed."""
    headlines = script("headlines")
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    assert headlines.with_headlines(page, text) == text
    answers = list(headlines.CLAIMS[page](headlines.Tables(text)))
    assert len(answers) >= 3
    for claim, here, verdict in answers:
        assert claim
        assert here
        assert re.search(r"\b(holds|hold|does not|open|not measured)\b", verdict), verdict
        assert page != "leave_one_out" or "realisation" in verdict
    # other tables, other figures
    section = text.partition("## The headlines")[2].partition("\n## ")[0]
    changed = text.replace(section, "").replace("0.", "9.")
    assert headlines.section(page, changed) != headlines.section(page, text)


def test_pages_that_cite_a_table_of_another_page_have_its_figures(monkeypatch):
    """README, the front page, choosing and how fast: a table that is made anew leaves no old figure behind there."""
    monkeypatch.syspath_prepend(SCRIPTS)
    page_tables = importlib.import_module("page_tables")
    docs = PAGES.parent

    def said(page):
        return " ".join((docs / page).read_text(encoding="utf-8").split())

    def tables(page):
        return page_tables.Tables("## all\n" + (docs / page).read_text(encoding="utf-8"))

    def mean(values):
        return page_tables.geometric(list(values))

    best = tables("_static/how_fast/fit.md")
    fit = float(re.search(r"\*\*(.*?)\*\*", best.sections["all"])[1])
    shares = best.column("all", "refsvm / best other").values()
    assert mean(shares) == pytest.approx(fit, abs=0.01)
    left_out = mean(tables("_static/how_fast/loo.md").column("all", "ratio").values())
    path = page_tables.Tables((PAGES / "svmp.md").read_text(encoding="utf-8"))
    sections = "Table II: linear", "Table III: Gaussian"
    worst = [max(path.column(section, "KKT").values()) for section in sections]
    assert f"[{fit:.2f} of its time]" in said("../README.md")
    assert f"| {fit:.2f} of the time |" in said("index.md")
    assert f"[{left_out:.0f} times as fast]" in said("../README.md")
    assert f"| {left_out:.0f} times as fast |" in said("index.md")
    assert f"[violated by at most {max(worst):.0e}]" in said("../README.md")
    assert f">{max(worst):.0e}</span> | the conditions of an optimum, on 20 paths" in said("index.md")

    steps = page_tables.Tables((PAGES / "conjugate.md").read_text(encoding="utf-8"))
    cost = steps.column("The cost of a step", "conjugate, its selector")
    planned = steps.column("The cost of a step", "planning")
    dearer = [cost[name] / planned[name] for name in cost]
    times = f"{min(dearer):.1f} to {max(dearer):.1f} times"
    assert f" step takes {times} as long as a planned" in said("rules.md")
    by_set = {}
    for row in steps.rows("Steps to ε"):
        ways = by_set.setdefault(row["problem"].partition(",")[0], {})
        for name in row.keys() - {"problem", "Newton"}:
            ways.setdefault(name, []).append(float(row[name]))
    fewest = [
        min(ways, key=lambda name, ways=ways: mean(ways[name])) == "conjugate, its selector"
        and mean(ways["conjugate, its selector"]) <= 1
        for ways in by_set.values()
    ]
    assert f"fewest steps on {sum(fewest)} of {len(fewest)} sets" in said("rules.md")


@pytest.mark.parametrize(
    "page", [*sorted(SCRIPT_OF), "conjugate", "preparations", "screening", "seeds_and_answers"]
)
def test_a_section_with_tables_ends_with_what_measured_them(page, script):
    """Version, commit, processor and load; or that they are counts, if the load was not told yet."""
    measured_by = script("measured_by")
    sections = measured_by.sections((PAGES / f"{page}.md").read_text(encoding="utf-8"))
    of_tables = {heading: text for heading, text in sections.items() if measured_by.cells(text)}
    assert [heading for heading, text in of_tables.items() if not measured_by.line_of(text)] == []
    assert sum("|:--" in text for text in sections.values()) >= 3
    counts = [text for text in sections.values() if measured_by.COUNTS in measured_by.line_of(text)]
    assert not any(measured_by.timed(text) for text in counts)


def test_what_measured_a_section_is_a_commit_of_the_history():
    def git(*words):
        command = ["git", "-C", TESTS.parent, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history is not here")
    pages = [*SCRIPT_OF, "conjugate", "preparations"]
    text = "".join((PAGES / f"{page}.md").read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"\bcommit (\w{7,})", text))
    assert len(named) > 5
    assert [
        each for each in sorted(named) if git("merge-base", "--is-ancestor", each, "HEAD").returncode
    ] == []


@pytest.mark.parametrize(("measured", "cell", "kept"), [(0, "1", True), (3, "1", False), (0, "2", False)])
def test_a_section_that_is_laid_out_again_keeps_the_line_of_what_measured_it(
    measured, cell, kept, tmp_path, monkeypatch, script
):
    page, measured_by = script("page"), script("measured_by")
    from refsvm.experiment import Grid

    line = "*Measured by refsvm 0.1.0 (commit abcdef0) on AMD EPYC, one core of 2, load 6.0.*"
    output, table = tmp_path / "page.md", Grid(("a",), (("1",),)).to_markdown()
    output.write_text(f"# Page\n\nHead.\n\n## A\n\n{table}\n\n{line}\n", encoding="utf-8")
    monkeypatch.setitem(page.NEW, "runs", measured)
    written = page.Page("Page", "script.py", argparse.Namespace(output=output))
    written.add("A", Grid(("a",), ((cell,),)))
    written.write()
    assert (line in output.read_text(encoding="utf-8")) == kept
    assert measured_by.line_of(measured_by.sections(output.read_text(encoding="utf-8"))["A"])
    assert page.NEW["runs"] == 0


def test_sections_that_are_not_asked_for_stay_where_they_stand(tmp_path, script):
    """Even if the script does not come to them, because they need a set that is not asked for."""
    page = script("page")
    output, sections = tmp_path / "page.md", "".join(f"## {each.upper()}\n\n{each}\n\n" for each in "abcd")
    output.write_text(f"# Page\n\nHead.\n\n{sections}", encoding="utf-8")
    written = page.Page("Page", "script.py", argparse.Namespace(output=output, only=["C", "D"]))
    written.add("C", "new")  # D was asked for, and is no more
    written.write()
    text = output.read_text(encoding="utf-8")
    found = [each.split("\n\n") for each in text.strip().split("## ")[1:]]
    assert found == [["A", "a", ""], ["B", "b", ""], ["C", "new"]]


# -- verdicts --------------------------------------------------------------------------------------------------


@pytest.fixture
def verdicts(script):
    return script("verdicts")


def tables(page):
    return importlib.import_module("page_tables").Tables((PAGES / f"{page}.md").read_text(encoding="utf-8"))


def test_the_headlines_follow_the_p_of_the_tables(verdicts, monkeypatch):
    """A set that is slower with p = 0.026, one of eighteen, shows nothing; without the adjustment it would count."""
    headlines = importlib.import_module("headlines")
    text = (PAGES / "planning_ahead.md").read_text(encoding="utf-8")
    family = verdicts.Family.of_table(tables("planning_ahead"), "Table 2: seconds", "PA-SMO / SMO")
    slower = max(family.ratio, key=family.ratio.__getitem__)
    assert slower in family.higher
    row = re.search(rf"\| {slower} .*?\n", text.partition("## Table 2: seconds")[2])[0]
    verdict = f"significantly slower on {slower}"

    def told(p):
        changed = row.replace(f"{family.p[slower]:.3f}", p)
        assert changed != row
        return verdict in headlines.section("planning_ahead", text.replace(row, changed))

    assert verdict not in headlines.section("planning_ahead", text)
    assert [told("0.026"), told("< 0.001")] == [False, True]
    monkeypatch.setattr(verdicts, "holm", dict)
    assert told("0.026")


@pytest.mark.parametrize(
    ("ratios", "ps", "never", "either"),
    [
        (
            (1.01, 0.9),
            (0.001, 0.4),
            "does not hold: ",
            "does not hold: significantly fewer on none, more on a",
        ),
        ((1.01, 0.9), (0.4, 0.4), "open: ", "is open: significantly different on no set"),
        ((0.99, 0.9), (0.4, 0.4), "holds: ", "is open: significantly different on no set"),
        ((0.99, 0.9), (0.001, 0.4), "holds: ", "does not hold: significantly fewer on a, more on none"),
        ((1.1, 0.9), (0.001, 0.001), "does not hold: ", "holds: significantly fewer on b, more on a"),
    ],
)
def test_what_is_not_significant_is_not_shown_to_be_none(ratios, ps, never, either, verdicts):
    family = verdicts.Family(dict(zip("ab", ratios, strict=True)), dict(zip("ab", ps, strict=True)), 20)
    assert verdicts.never_more(family, "slower").startswith(never)
    assert verdicts.either_way(family, "fewer", "more") == either
    assert not verdicts.Family(family.ratio, family.p, 6).can_show  # the smallest p of six orders is 2/2⁶


def test_the_remarks_on_planning_ahead_are_those_of_its_tables(verdicts):
    pytest.importorskip("matplotlib")
    script, page = importlib.import_module("planning_ahead"), tables("planning_ahead")
    seconds = verdicts.Family.of_table(page, "Table 2: seconds", "PA-SMO / SMO")
    assert script.words_of_seconds(seconds).strip() in page.sections["Table 2: seconds"]
    steps = script.words_of_steps(verdicts.Family.of_table(page, "Table 2: iterations", "PA-SMO / SMO"))
    sure = f"the difference is significant on {steps['sure']} of these sets ({steps['within']})"
    told = f"on {steps['fewer']} sets; {sure}"
    assert told in " ".join(page.sections["Table 2: iterations"].split())
    orders = page.orders("The objective reached")
    higher = page.column("The objective reached", "PA-SMO higher in")
    reached = verdicts.Family(
        {name: 2 * count / orders for name, count in higher.items()},
        page.column("The objective reached", "p"), orders,
    )  # fmt: skip
    assert script.words_of_objective(reached).strip() in page.sections["The objective reached"]
    alone = verdicts.Family.of_cells(page, "§7.2", "Algorithm 3 alone")
    section = " ".join(
        next(text for heading, text in page.sections.items() if heading.startswith("§7.2")).split()
    )
    assert f"on these sets: {script.words_of_selection(alone)} ({alone.within()})." in section
    ambiguous = verdicts.either_way(alone, "fewer", "more").partition(":")[0]
    assert f"The verdict “completely ambiguous” {ambiguous}." in section
    decision = (PAGES.parent / "decisions" / "0008-planning-by-default.md").read_text(encoding="utf-8")
    most = max(seconds.ratio.values()) - 1.0
    slower = f"on {len(seconds.higher)} of them, by {100 * most:.0f} % at most"
    assert f"higher {slower} and on {len(seconds.more) or 'none'} significantly" in " ".join(decision.split())
    assert steps["fewer"] == len(seconds.ratio)  # "on all", there
    eager = verdicts.Family.of_table(page, "Algorithm 2", "Algorithm 2 / PA-SMO")
    clipped = page.sections["Algorithm 2: planning after clipped steps too"]
    assert script.words_of_algorithm_2(eager).strip() in clipped
    columns = ("1.1 Newton", "1.1 Newton, Algorithm 3", "PA-SMO")
    longer = [verdicts.Family.of_cells(page, "§7.3: steps", each) for each in columns]
    assert script.words_of_longer_steps(*longer).strip() in page.sections["§7.3: steps 1.1 times as long"]


@pytest.mark.parametrize(
    ("table", "count"), [("Table II: linear kernel", 6), ("Table III: Gaussian kernel", 3)]
)
def test_the_sets_with_nearly_the_events_of_the_paper_are_named(table, count, verdicts):
    page = tables("svmp")
    here, there = (page.column(table, "events", part=part) for part in (0, 1))
    names = verdicts.near(here, there, verdicts.FIFTH)
    assert len(names) == count
    assert f"a fifth of the paper's, on {verdicts.listed(names)}." in " ".join(page.sections[table].split())


def test_from_the_full_solution_sir_mir_and_avg_are_one_rule():
    from refsvm import AVG, MIR, RBF, SIR, DualProblem, solve
    from refsvm.datasets import load

    heart = load("heart")
    problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.05), C=10.0)
    full = solve(problem)
    for fold in range(5):
        box = problem.without(np.arange(fold, problem.n, 5))
        seeds = [seeder.seed(full, box) for seeder in (SIR(), MIR(), AVG())]
        assert seeds[0].any()
        np.testing.assert_array_equal(seeds[1], seeds[0])
        np.testing.assert_array_equal(seeds[2], seeds[0])


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("REFSVM_DATA"), reason="REFSVM_DATA names no data directory")
@pytest.mark.parametrize(
    ("script", "tables"),
    [
        ("maximum_gain.py", ["Table 2", "Table 4", "Table 5", "Table 6", "Table 7", "Figure 6"]),
        ("alpha_seeding.py",
         ["What we did", "Table 1", "Table 2", "MIR's", "Table 3", "Supplement, Figure 2", "Other sets"]),
        ("seeds_and_answers.py", ["The same predictions", "Iterations, 3", "Iterations, 10"]),
        ("preparations.py", ["How the preparations were found", "Glasmachers 2008: the eighteen sets"]),
        ("conjugate.py", ["Steps to", "CPU seconds", "The cost of a step", "Leave-one-out"]),
        ("screening.py", ["What is compared", "Steps and", "CPU seconds", "The share removed"]),
        ("planning_ahead.py", ["Shrinking ×", "Table 1", "Table 2", "Figure 4", "§7.2", "§7.3"]),
        ("svmp.py", ["Which Gaussian", "Table II", "Table III", "Compared with warm-started rounds",
                     "Compared with R's", "Cost of", "german"]),
        ("loo_stopping.py",
         ["What we did", "Table 3 as printed", "KerEval", "The eleven", "By `leave_one_out`", "Figure 1"]),
    ],
)  # fmt: skip
def test_a_script_prints_every_table_and_does_not_repeat_its_runs(script, tables, tmp_path):
    command = SCRIPTS / script, "--quick", "--store", tmp_path / "runs.sqlite"
    first, second = (printed_by(*command) for _ in range(2))
    headings = [line for line in first.splitlines() if line.startswith("## ")]
    for table in tables:
        assert any(heading.startswith(f"## {table}") for heading in headings)
    # seconds included: nothing was measured again; the load is that of the moment in which a table is laid out
    one, other = (re.sub(r", load [\d.]+", "", each) for each in (first, second))
    assert other == one


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "name", "given"),
    [
        ("newton_step_gap", "NewtonStepGap", ()),
        *(("candidate_step", "CandidateStep", (k,)) for k in (1.0, 1.1)),
    ],
)
def test_a_rule_of_a_script_is_one_like_any_other(file, name, given, script):
    from refsvm.testing import check_strategy

    assert "agree bit for bit" in check_strategy(getattr(script(file), name)(*given)).twin
