"""The page of claims: complete, self-contained, and honest about failures."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

import sidelight as sl
from sidelight.experiment.claims import Curve, Estimate, Evidence, Outcome, Prediction, Reproduction, find
from sidelight.report.claims_page import claim_figure, claims_markdown, claims_table, write_claims_page


@pytest.fixture(scope="module")
def reproduction():
    """One claim that holds, one that fails, one that is beaten, one that measured nothing."""
    outcomes = [
        find([name])[0].run(quick=True)
        for name in ("corrupted-constant", "out-degree-as-printed", "cycle-against-chlz21")
    ]
    claim = replace(
        find(["one-block"])[0],
        name="odd",
        statement="Less than <b>nothing</b>.",
        predictions=(Prediction.most("gap", 1.0, "never measured"),),
    )
    curve = Curve("band", "measured", (1.0, 2.0), (0.0, 1.0), (-1.0, 0.5), (0.5, 1.5))
    nothing = Evidence(
        ({"x": 1, "y": float("nan")},),
        {},
        (curve,),
        "x",
        "y",
        rivals={"idle": Estimate(float("nan"), float("nan"), float("nan"))},
        skipped={"exp3": "no policy of this name in this version"},
    )
    outcomes.append(Outcome.of(claim, nothing, True, 0.1, 0.1))
    return Reproduction(tuple(outcomes), quick=True, complete=False, provenance={"sidelight": "0"})


@pytest.fixture(scope="module")
def folder(reproduction, tmp_path_factory):
    """Where the page and its files were written: a folder that did not exist."""
    home = tmp_path_factory.mktemp("claims") / "new" / "folder"
    assert write_claims_page(reproduction, home) == home / "claims.html"
    return home


def test_the_page_stands_alone(reproduction, folder):
    text = (folder / "claims.html").read_text(encoding="utf-8")
    for outcome in reproduction.outcomes:
        assert f'id="{outcome.claim}"' in text
        assert all(check.name.replace("'", "&#39;") in text for check in outcome.checks)
    assert text.count("data:image/svg+xml;base64,") == 4
    assert "http:" not in text
    assert "https:" not in text
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "<b>nothing</b>" not in text
    assert "&lt;b&gt;nothing" in text
    assert "interrupted" in text
    assert "exp3 did not play: no policy of this name in this version" in text
    assert "beaten by baseline: CHLZ21&#39;s bound at N = 10⁶" in text


def test_files_beside_the_page(reproduction, folder):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    saved = json.loads((folder / "claims.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert saved["counts"] == {"holds": 1, "beaten by baseline": 1, "inconclusive": 1, "fails": 1}
    assert len(list((folder / "figures").glob("*.png"))) == 4
    assert (folder / "figures" / "odd.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "claims.md").read_text(encoding="utf-8") == claims_markdown(reproduction)


def test_markdown_has_a_row_per_claim(reproduction):
    lines = claims_markdown(reproduction).splitlines()
    assert len(lines) == 2 + 4
    assert all(line.replace("\\|", "").count("|") == 6 for line in lines)
    assert lines[3].startswith("| `out-degree-as-printed`")
    assert lines[3].endswith("| fails |")


def test_the_table_names_every_check(reproduction):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(claims_table(reproduction))
    text = console.export_text()
    assert "quick reproduction (interrupted): 1 holds, 1 beaten by baseline, 1 inconclusive, 1 fails" in text
    for outcome in reproduction.outcomes:
        assert outcome.claim in text
        assert all(check.measured in text for check in outcome.checks)


def test_figures_use_log_axes_where_they_can(reproduction):
    axes = [claim_figure(outcome, outcome.claim).axes[0] for outcome in reproduction.outcomes]
    assert axes[1].get_xscale() == axes[1].get_yscale() == "log"
    assert axes[3].get_yscale() == "linear"
    labels = [text.get_text() for text in axes[1].get_legend().get_texts()]
    assert "out-degree" in labels
    assert any("predicted" in label for label in labels)


def test_a_page_that_cannot_be_written(reproduction, tmp_path):
    taken = tmp_path / "file"
    taken.write_text("")
    with pytest.raises(sl.InvalidOption, match="cannot write to the folder"):
        write_claims_page(reproduction, taken)
