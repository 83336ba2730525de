"""Mistakes that a new user makes first: each is told what is wrong and what to do, and loses nothing."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import sidelight as sl
from sidelight.cli.main import cli
from sidelight.errors import InvalidFeedback, InvalidOption, SavedStateError


def test_a_plan_is_not_written_over_something_else(tmp_path):
    edges = tmp_path / "sees.csv"
    edges.write_text("src,dst\n0,1\n1,0\n")
    found = CliRunner().invoke(cli, ["plan", str(edges), "--horizon", "100", "-o", str(edges)])
    assert found.exit_code != 0
    assert "is no plan" in str(found.exception)
    assert edges.read_text().startswith("src,dst")
    plan = tmp_path / "plan.json"
    for _ in range(2):  # an older plan may be replaced
        assert (
            CliRunner().invoke(cli, ["plan", str(edges), "--horizon", "100", "-o", str(plan)]).exit_code == 0
        )


def test_a_plan_is_known_however_its_json_is_laid_out(tmp_path):
    sl.plan("cycle:6", 500).save(tmp_path / "plan.json")
    about = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "compact.json").write_text(json.dumps(about))
    command = [
        "run",
        str(tmp_path / "compact.json"),
        "--seeds",
        "1",
        "-o",
        str(tmp_path / "out"),
        "--no-figures",
    ]
    found = CliRunner().invoke(cli, command)
    assert found.exit_code == 0, found.output
    about["bound"]["value"] = 1.0
    (tmp_path / "compact.json").write_text(json.dumps(about))
    assert "damaged" in str(CliRunner().invoke(cli, command).exception)


def test_wrong_arguments_are_not_the_fault_of_policies():
    with pytest.raises(InvalidOption, match="jobs must be in"):
        sl.compare("cycle:6", ["auto"], "gap", 100, seeds=1, jobs=-1)
    with pytest.raises(InvalidOption, match="seed 1 is given twice"):
        sl.simulate(sl.plan("cycle:6"), "gap", seeds=[1, 2, 1], horizon=10)
    with pytest.raises(InvalidOption, match=r"sl\.Partition\(graph"):
        sl.plan("cycle:6", 100, partition=[[0, 1, 2], [3, 4, 5]])


def test_what_was_not_played_is_shown_with_its_reason():
    results = sl.compare("cycle:6", ["auto", "hedge"], "gap", 100, seeds=1)
    assert "'hedge'" in repr(results)
    assert results.absent[0].reason in repr(results)
    comment, *_ = results.to_latex().splitlines()
    assert comment.startswith("% ")
    assert "hedge" in comment


def test_a_plan_without_a_horizon_has_no_bound_to_ask_for():
    plan = sl.plan("cycle:6")
    assert not hasattr(plan, "bound")
    with pytest.raises(InvalidOption, match="bound_at"):
        _ = plan.bound


def test_a_file_is_not_what_axes_are():
    run = sl.simulate(sl.plan("cycle:6"), "gap", seeds=1, horizon=10)
    with pytest.raises(InvalidOption, match="savefig"):
        run.plot("x.png")


def test_feedback_about_arms_that_were_not_revealed_names_them():
    policy = sl.plan("cycle:6").policy(seed=1)
    policy.ask()
    for wrong in ("x", 99):
        with pytest.raises(InvalidFeedback, match=str(wrong)):
            policy.tell({wrong: 1})
    policy.tell(np.zeros(2))


def test_plans_and_policies_are_told_apart(tmp_path):
    plan = sl.plan("cycle:6", 100)
    plan.save(tmp_path / "plan.json")
    plan.policy(seed=1).save(tmp_path / "a.policy")
    with pytest.raises(SavedStateError, match=r"sl\.Policy\.load"):
        sl.Plan.load(tmp_path / "a.policy")
    with pytest.raises(SavedStateError, match=r"sl\.Plan\.load"):
        sl.Policy.load(tmp_path / "plan.json")


def test_a_bound_at_no_round_names_its_argument():
    with pytest.raises(InvalidOption, match=r"^t must be between 1"):
        sl.plan("cycle:6").bound_at(0)
