"""The leaderboard: every policy of every comparison, the least marked, noise marked as noise."""

from finished_cells import cell, results

from sidelight.report.groups import groups_of
from sidelight.report.tables import ranked_rows


def lines(*cells):
    return [{row["policy"]: row for row in ranked_rows(group)} for group in groups_of(results(*cells))]


def test_entries_say_how_far_they_are_from_the_least():
    (line,) = lines(
        cell("auto", final=[10.0, 11.0, 12.0]),
        cell("flat", final=[10.5, 11.2, 11.9]),
        cell("ftl", final=[110.0, 111.0, 112.0]),
    )
    best, close, far = (line[name] for name in ("auto", "flat", "ftl"))
    assert (best["best"], best["ratio"], best["shade"], best["close"]) == (True, "1×", 0, False)
    assert (close["best"], close["close"]) == (False, True)
    assert (far["ratio"], far["shade"], far["close"]) == ("10.1×", 4, False)
    assert best["texts"][0].startswith("11 ± ")


def test_policies_that_played_alike_share_the_lead():
    (line,) = lines(cell("a"), cell("b"), cell("c", final=[9.0, 9.0, 9.0]))
    assert [entry["best"] for entry in line.values()] == [True, True, False]


def test_a_comparison_has_only_those_who_played():
    first, second = lines(cell("a"), cell("b", graph="mab:3"))
    assert (list(first), list(second)) == (["a"], ["b"])


def test_nothing_is_divided_by_zero_and_one_seed_has_no_interval():
    (line,) = lines(cell("a", final=[0.0]), cell("b", final=[1.0]))
    assert (line["b"]["ratio"], line["b"]["texts"][0]) == ("", "1")
    assert not line["b"]["close"]
