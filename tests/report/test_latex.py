"""Tables for papers: their structure, their numbers, and nothing that LaTeX would choke on."""

import re
import shutil
import subprocess

import pytest
from finished_cells import bound, cell, final_cell

from sidelight.experiment.results import Results
from sidelight.report.latex import _digits, results_latex


def rows_of(text):
    """The cells of the body, row by row."""
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    return [line.removesuffix(r" \\").split(" & ") for line in body.splitlines() if line != r"\addlinespace"]


def columns_of(text):
    return re.search(r"\\begin\{tabular\}\{@\{\}(\w+)@\{\}\}", text)[1]


def test_one_comparison_has_a_row_for_each_policy():
    results = Results((cell("auto", bound=bound(50.0)), cell("exp3_ix", final=(4.0, 4.0, 4.0))))
    text = results.to_latex()
    assert columns_of(text) == "lrrr"
    assert r"policy & regret & bound & certificate \\" in text
    assert rows_of(text) == [
        ["auto", r"$\mathbf{2 \pm 2.5}$", "$50$", "--"],  # t(0.975, 2)/√3 = 2.484
        [r"exp3\_ix", r"$4 \pm 0$", "--", "--"],
    ]
    assert text.startswith("% regret, mean of 3 runs with its 95 % interval; cycle:4, gap, T = 100\n")


def test_a_path_is_written_and_is_no_option(tmp_path):
    results = Results((cell("auto", bound=bound(50.0)),))
    text = results.to_latex(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text(encoding="utf-8") == text == results.to_latex()
    with pytest.raises(TypeError):
        results.to_latex(None, True)


def test_several_have_a_row_each_and_a_column_for_each_policy():
    cells = [final_cell(T, policy, graph=g) for g in ("a_b", "c") for T in (10**3, 10**5) for policy in "xy"]
    text = Results(tuple(cells[:-1])).to_latex()
    assert columns_of(text) == "lrrr"
    assert r"graph & $T$ & x & y \\" in text
    rows = rows_of(text)
    assert [row[:2] for row in rows] == [
        [r"a\_b", "1,000"], [r"a\_b", "100,000"], ["c", "1,000"], ["c", "100,000"]
    ]  # fmt: skip
    assert rows[-1][-1] == "--"  # the cell that is missing
    assert all(sum("mathbf" in word for word in row) == 1 for row in rows)


def test_either_layout_may_be_asked_for():
    cells = tuple(final_cell(T, policy) for T in (10**3, 10**5) for policy in "xy")
    long = Results(cells).to_latex(wide=False)
    assert columns_of(long) == "rlrrr"
    assert long.count(r"\addlinespace") == 1
    assert [row[0] for row in rows_of(long)] == ["1,000", "", "100,000", ""]
    single = Results(cells[:2]).to_latex(wide=True)
    assert columns_of(single) == "rr"
    assert len(rows_of(single)) == 1


def test_a_single_seed_has_no_interval():
    assert rows_of(Results((cell(final=(7.0,)),)).to_latex())[0][1] == r"$\mathbf{7}$"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-3.14159, "-3.14"), (1234.5, "1{,}234"), (2.5e9, r"2.5 \cdot 10^{9}"),
        (1.2e-5, r"1.2 \cdot 10^{-5}"),
    ],
)  # fmt: skip
def test_numbers(value, text):
    assert _digits(value) == text


NASTY = r"100%_of {all} & $x^2$ ~ #1 \end{tabular} <b> |" + "\n\t\0"


def test_every_row_has_as_many_cells_as_there_are_columns():
    for wide in (False, True):
        text = results_latex(Results((cell(NASTY), cell("b", graph=NASTY, environment=NASTY))), wide)
        width = len(columns_of(text))
        for line in text.splitlines():
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == width - 1, line


def test_what_else_it_needs():
    plain, latin, other = (Results((cell(name),)).to_latex() for name in ("δ*", "Łódź", "東京 ≤ Łódź"))
    assert "% needs \\usepackage{booktabs}\n" in plain
    assert "and \\usepackage[T1]{fontenc}\n" in latin
    assert "% pdflatex does not know 京東: use lualatex" in other


def test_no_row_begins_with_what_ends_of_rows_take():
    names = ("[1cm]", "*", " [x]")
    for wide in (False, True):
        text = results_latex(Results(tuple(cell(name, graph=name) for name in names)), wide)
        assert all(row[0].startswith("{}") for row in rows_of(text) if row[0])


def test_nothing_to_show():
    assert rows_of(Results(()).to_latex()) == []


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_it_compiles(tmp_path):
    greek = "δ*, γ̄ ≤ β̂², x₁⁻³ → ℓ̂ ± ½·√∞"
    names = (NASTY, greek, "[1]", "*", "Łódź «ąþđŋ»", "“a” – ‘b’ … €")
    cells = (*map(cell, names), *(cell(name, graph=name) for name in names), cell("b", final=(1e9, -2e9)))
    tables = "\n\n".join(Results(cells).to_latex(wide=wide) for wide in (False, True))
    assert "pdflatex does not know" not in tables
    packages = r"\usepackage{booktabs}\usepackage[T1]{fontenc}"
    page = rf"\documentclass{{article}}{packages}\begin{{document}}{tables}\end{{document}}"
    (tmp_path / "t.tex").write_text(page)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
