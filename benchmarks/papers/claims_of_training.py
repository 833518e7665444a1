"""What three papers on steps and selections claim, and what the tables of their pages say of it.

What a paper claims is quoted from its abstract, its conclusion, or the section that is named. Every figure of ours is
read from the page.
"""

from __future__ import annotations

from collections.abc import Iterator

from page_tables import Answer, Tables, geometric, holds, number, percent
from verdicts import Family, across, in_all, never_more

from refsvm.experiment.grid import p_value


def maximum_gain(page: Tables) -> Iterator[Answer]:
    """Glasmachers & Igel 2006."""
    larger = {row["strategy"]: row for row in page.rows("Larger sets, one order, with shr")}
    second, hmg = larger["LIBSVM-2.8 (second order)"], larger["HMG, KKT gap"]
    ratios = {
        (row["relative to second order (p)"], row[""]): row["HMG, KKT gap"] for row in page.rows("Table 2", 1)
    }
    spam = next(ratios[name, metric] for name, metric in ratios if name[:4] == "spam" and "seconds" in metric)
    whole = number(seconds_of(hmg)) / number(seconds_of(second))
    yield _large_sets(
        page,
        f"{seconds_of(hmg)} s against {seconds_of(second)} in one order, {whole:.2f} times as long",
    )
    yield Answer(
        "“… for small problems the LIBSVM-2.8 algorithm is faster” (conclusion)",
        f"spambase: HMG takes {number(spam):.2f} times the seconds of second order",
        holds(number(spam) > 1),
    )
    most = next(row for row in page.rows("Claims checked", 1) if "at most one row" in row["claim"])
    yield Answer(
        "“… at most one matrix row needs to be computed in every iteration” (conclusion)",
        f"spambase without shrinking, memory for few rows: {number(most['found']):.2f} rows an iteration at most",
        holds(number(most["found"]) <= 1),
    )
    rows = [number(ratios[name, "kernel rows"]) for name, metric in ratios if metric == "kernel rows"]
    quicker = [
        name.partition(" (")[0]
        for name, metric in ratios
        if "seconds" in metric and number(ratios[name, metric]) < 1
    ]
    yield Answer(
        "The speed-up is “achieved by the avoidance of cache misses” (conclusion)",
        f"kernel rows of HMG in those of second order, at equal accuracy: {rows[0]:.2f}, {rows[1]:.2f}, {rows[2]:.2f}",
        f"{holds(max(rows) < 1)} in kernel rows; the seconds follow on {', '.join(quicker) or 'no set'}: elsewhere a "
        "row is cheap",
    )
    cells = [
        cell
        for row in page.rows("Figure 6", 1)
        for name, cell in row.items()
        if name.startswith("C =")
    ]  # fmt: skip
    ahead = sum(number(cell) < 1 for cell in cells)
    quick = sum(
        number(cell) < 1
        for row in page.rows("Figure 6", 3)
        for name, cell in row.items()
        if name.startswith("C =")
    )
    yield Answer(
        "HMG is “especially efficient for appropriate kernel and regularization parameter settings” (conclusion)",
        f"ahead of second order on {ahead} of {len(cells)} cells in kernel rows, on {quick} in seconds",
        "holds in kernel rows where C is large and γ is not; does not in seconds",
    )
    one, two = (
        {row["problem"]: row for row in page.rows("Table 6") if row["strategy"] == f"{rows} KKT gap"}
        for rows in ("one row,", "two rows,")
    )
    steps = [number(one[name]["iterations"]) / number(two[name]["iterations"]) for name in two]
    seconds = [number(seconds_of(one[name])) / number(seconds_of(two[name])) for name in two]
    yield Answer(
        "“The two-row strategy performed clearly better” than one row (Table 6)",
        f"one row takes {steps[0]:.2f} and {steps[1]:.2f} times the steps, {seconds[0]:.2f} and {seconds[1]:.2f} "
        "times the seconds, at equal accuracy",
        holds(min(seconds) > 1),
    )
    every, pair = (
        {
            row["problem"]: number(row["iterations"])
            for row in page.rows("Table 7")
            if row["strategy"] == f"{rows} KKT gap"
        }
        for rows in ("all rows,", "two rows,")
    )  # fmt: skip
    saved = [1 - every[name] / pair[name] for name in pair]
    yield Answer(
        "All cached rows save 31 % of the iterations on spambase, none on connect-4 (Table 7)",
        f"{100 * saved[0]:.1f} % (2,000 examples) and {100 * saved[1]:.1f} % at equal accuracy",
        holds(saved[0] > 0.2 and saved[1] < 0.1),
    )
    yield Answer(
        "Maximum gain alone may stop early (Theorem 7), the hybrid converges (Theorem 1)",
        "both on the printed example, below; Figure 5 has an erratum",
        "holds",
    )
    yield from _open_questions(page)


def seconds_of(row: dict[str, str]) -> str:
    """Return the seconds of a row, by the clock where it was measured before the CPU was asked."""
    return row.get("CPU seconds") or row["seconds"]


def _large_sets(page: Tables, own_shrinking: str) -> Answer:
    """Whether HMG is faster on large sets, by the largest part of each set that was measured."""
    rows = page.rows("Time against n")
    largest = {row["problem"].split(" (")[0]: row for row in rows}  # ascending within each set
    told, faster = [], []
    for name, row in largest.items():
        orders, n = row["orders"], row["problem"].split("(")[1][:-1]
        p = f", p = {row['p']}" if row["p"] != "–" else ""
        told.append(
            f"{name}, n = {n}: {row['ratio']} times the CPU seconds ({orders} order{'s' * (orders != '1')}{p})"
        )
        if number(row["ratio"]) < 1:
            faster.append(name)
    tested = [row for row in rows if row["p"] != "–"]
    family = Family(
        {row["problem"]: number(row["ratio"]) for row in rows},
        {row["problem"]: number(row["p"]) for row in tested},
        max((int(row["orders"]) for row in tested), default=1),
    )
    return Answer(
        "“For large training sets our new selection scheme is significantly faster” than second order (abstract)",
        "; ".join(told) + f"; with this package's shrinking connect-4 in full takes {own_shrinking}",
        "; ".join(f"{holds(name in faster)} on {name}" for name in largest)
        + f"; significantly faster on {', '.join(family.less) or 'none'} and slower on "
        f"{', '.join(family.more) or 'none'} of the sizes with a p ({family.within()}); MNIST in full is not run",
    )


def _open_questions(page: Tables) -> Iterator[Answer]:
    """What Glasmachers & Igel suggest, by rules of ours."""
    if not any(heading.startswith("Open questions") for heading in page.sections):
        yield Answer(
            "A mixed strategy that switches by “cache and problem size” is suggested (conclusion)",
            "`CacheAware`, ours, is not measured on this page",
            "open",
        )
        return
    rows, sets = page.rows("Open questions"), page.rows("Open questions", 2)
    shares: dict[str, list[float]] = {}
    for metric in ("kernel rows", "seconds"):
        values = [number(row[metric]) for row in rows]
        # second order, HMG and the switch of each set
        shares[metric] = [values[k + 2] / min(values[k], values[k + 1]) for k in range(0, len(values), 3)]
    (least, most), (quick, slow) = ((min(each), max(each)) for each in shares.values())
    yield Answer(
        "A mixed strategy that switches by “cache and problem size” is suggested (conclusion)",
        f"`CacheAware`, ours: {least:.2f} to {most:.2f} times the kernel rows of the better of both on three sets, "
        f"{quick:.2f} to {slow:.2f} times the seconds of the faster",
        f"{holds(most <= 1.1)} in kernel rows; {holds(slow <= 1.1)} in seconds",
    )
    rows_of_ten = [
        number(sets[k + 1]["kernel rows"]) / number(sets[k]["kernel rows"]) for k in range(0, len(sets), 2)
    ]
    yield Answer(
        "SVM-light with ten variables a step is slower than pairs (Table 3)",
        "`Decomposition`, ours: "
        + ", ".join(f"{value:.2f}" for value in rows_of_ten)
        + " times the kernel rows of second order",
        f"{holds(min(rows_of_ten) > 1)} in kernel rows; seconds are not told",
    )


def planning_ahead(page: Tables) -> Iterator[Answer]:
    """Glasmachers 2008."""
    seconds = Family.of_table(page, "Table 2: seconds", "PA-SMO / SMO")
    ratio, p = seconds.ratio, seconds.p
    worst = max(ratio, key=ratio.__getitem__)
    yield Answer(
        "“… it never performs worse than the standard SMO algorithm”: never slower (§7.1)",
        f"the mean of the CPU seconds is higher on {len(seconds.higher)} of {len(ratio)} sets, by "
        f"{percent(ratio[worst] - 1)} at most ({worst}, p = {p[worst]}), significantly on {len(seconds.more)} "
        f"({seconds.within()}); {in_all(seconds)}",
        never_more(seconds, "slower"),
    )
    yield Answer(
        "Significantly faster in 5 cases (§7.1)",
        f"{len(seconds.less)} of {len(ratio)} sets ({seconds.within()}; there 22 sets, 100 orders)",
        holds(len(seconds.less) >= 5),
    )
    steps = {
        how: Family.of_table(page, table, "PA-SMO / SMO")
        for how, table in (
            ("without shrinking", "Table 2: iterations"),
            ("with LIBSVM's", "Table 2 with LIBSVM's shrinking"),
            ("with this package's", "Table 2 with shrinking"),
        )
        if table in page.sections
    }
    plain = steps["without shrinking"]
    yield Answer(
        "“The number of iterations is significantly reduced in nearly all cases” (§7.1)",
        "; ".join(
            f"{how} significantly fewer on {len(each.less)} of {len(each.ratio)} sets, more on {len(each.more)} "
            f"({each.within()})"
            for how, each in steps.items()
        )
        + f"; without, {geometric(list(plain.ratio.values())):.3f} times those of SMO in the geometric mean",
        holds(len(plain.less) > 0.75 * len(plain.ratio) and not plain.more),
    )
    # more than half of the orders higher stands for a ratio above one
    reached = Family(
        {name: 2 * count / page.orders("The objective reached")
         for name, count in page.column("The objective reached", "PA-SMO higher in").items()},
        page.column("The objective reached", "p"), page.orders("The objective reached"),
    )  # fmt: skip
    yield Answer(
        "It “consistently achieves better solutions” on all sets but the largest (§7.1)",
        f"significantly higher on {len(reached.more)} of {len(reached.p)}, lower on {len(reached.less)} "
        f"({reached.within()})",
        f"holds on {len(reached.more)} sets; on the others neither is shown to be better",
    )
    apart = page.column("The objective reached", "(PA-SMO − SMO)/SMO")
    yield Answer(
        "“… guaranteed convergence of the algorithm to an optimal solution” (Theorem 2, conclusion)",
        f"the mean objectives of SMO and PA-SMO agree to {max(map(abs, apart.values())):.0e} on all {len(apart)} sets",
        "holds; `tests/theorems/test_planning_ahead.py` checks the gain of two steps",
    )
    twenty = Family.of_cells(page, "Figure 4", "N = 20")
    last = geometric(list(twenty.ratio.values()))
    yield Answer(
        "Two or three recent sets are slightly better than one, ten and twenty much worse (Figure 4)",
        f"twenty take {last:.3f} times the iterations of one, significantly more on {len(twenty.more)} of "
        f"{len(twenty.ratio)} sets and fewer on {len(twenty.less)} ({twenty.within()})",
        holds(last > 1),
    )
    alone = Family.of_cells(page, "§7.2", "Algorithm 3 alone")
    yield Answer(
        "The selection alone makes a “completely ambiguous” difference (§7.2)",
        f"iterations in those of SMO: {in_all(alone)}; significantly fewer on {len(alone.less)} of "
        f"{len(alone.ratio)} sets, more on {len(alone.more)} ({alone.within()})",
        holds(abs(geometric(list(alone.ratio.values())) - 1) < 0.02),
    )
    long = {row["problem"]: row for row in page.rows("§7.3: steps 1.1")}
    board = long["chessboard-1000"]
    average = geometric([number(row["1.1 Newton"]) for row in long.values()])
    yield Answer(
        "Steps 1.1 times as long are “surprisingly successful”, but not on the chessboard (§7.3)",
        f"{average:.3f} times the iterations; chessboard {board['1.1 Newton'].split()[0]}, planning "
        f"{board['PA-SMO'].split()[0]}",
        holds(average < 1 and number(board["1.1 Newton"]) > 0.95),
    )
    longest = page.column("§7.3: planned", "largest μ/μ̂ − 1")
    where = max(longest, key=longest.__getitem__)
    yield Answer(
        "Some steps are enlarged by a factor of several thousands (Figure 3)",
        f"the longest planned step of {len(longest)} sets is longer than Newton's by {longest[where]:,.0f} times that, "
        f"on {where}",
        holds(longest[where] >= 1000),
    )
    yield _long_sets(page)


def _long_sets(page: Tables) -> Answer:
    """The sets that take minutes."""
    family, there = (
        Family.of_table(page, "The long sets", "PA-SMO / SMO"),
        page.column("The long sets", "ratio there"),
    )
    here, orders = family.ratio, family.orders
    tested = (
        f"significant on {', '.join(family.less) or 'none'} ({family.within()})"
        if family.p
        else family.within()
    )
    return Answer(
        "The long sets: "
        + ", ".join(f"{there[name]:.2f}" for name in there)
        + " times the iterations (Table 2)",
        ", ".join(f"{here[name]:.2f}" for name in here) + f" in {orders} order{'s' * (orders != 1)}",
        f"{holds(max(here.values()) < 1)} in direction; {tested}",
    )


def _by_set(rows: list[dict[str, str]], column: str) -> dict[str, float]:
    """Return the geometric mean of a column for each set, whose problems differ in C alone and are not independent."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row["problem"].partition(",")[0], []).append(number(row[column]))
    return {name: geometric(values) for name, values in found.items()}


def conjugate(page: Tables) -> Iterator[Answer]:
    """Torres-Barrán, Alaíz & Dorronsoro 2021."""
    steps = page.rows("Steps to")
    ratios = [number(row["conjugate"]) for row in steps]
    by_set = _by_set(steps, "conjugate")
    sure = p_value(across(list(by_set.values())))
    yield Answer(
        "Conjugate steps give “a substantial decrease in the number of iterations” (abstract)",
        f"{geometric(ratios):.2f} times Newton's in the geometric mean of {len(ratios)} problems, "
        f"{min(ratios)} to {max(ratios)}; p of the {len(by_set)} sets, each by its geometric mean: {sure}",
        holds(geometric(ratios) < 0.8 and across(list(by_set.values())) < 0.05),
    )
    seconds = page.rows("CPU seconds")
    relative = [number(row["conjugate"]) / number(row["Newton"]) for row in seconds]
    yield Answer(
        "“It is faster for many hyper-parameter configurations” than second-order SMO (abstract)",
        f"with this package's shrinking, {geometric(relative):.2f} times the seconds of Newton steps in the geometric "
        f"mean, faster on {sum(value < 1 for value in relative)} of {len(relative)} problems",
        holds(
            geometric(relative) < 1,
            ", though time falls by less than steps" * (geometric(relative) > geometric(ratios)),
        ),
    )
    if "The cost of a step" not in page.sections:
        yield Answer(
            "“Only a modest increase on the computational cost of each iteration” (abstract)",
            "the two figures above: time falls by far less than steps",
            "not measured by itself",
        )
        return
    more = [number(row["conjugate"]) for row in page.rows("The cost of a step")]
    yield Answer(
        "“Only a modest increase on the computational cost of each iteration” (abstract)",
        f"a step takes {min(more)} to {max(more)} times Newton's, {geometric(more):.2f} in the geometric mean of "
        f"{len(more)} problems, kernel matrix given",
        holds(geometric(more) < 1.5),
    )
