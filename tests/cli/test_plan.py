"""`sidelight plan`: the plan that the library makes, in words, in JSON and in a file."""

import json

import pytest

import sidelight as sl


def answer(run, *arguments):
    code, out, err = run("plan", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_json_is_the_plan_with_its_graph_and_its_checks(run):
    found = answer(run, "teams:4x3", "-T", "1e5")
    plan = sl.plan(sl.families.teams([3] * 4), 100_000)
    checks = found.pop("checks")
    assert checks
    assert all(check["holds"] for check in checks)
    assert found.pop("graph")["source"] == "teams:4x3"
    assert found.pop("version") == sl.__version__
    assert found == json.loads(json.dumps(plan.to_dict()))


def test_a_vacuous_bound_is_called_so(run):
    code, out, _ = run("plan", "cycle:64", "--horizon", 50)
    assert code == 0
    assert "vacuous at T = 50" in out
    assert "uniform" not in out
    code, out, _ = run("plan", "cycle:64", "--horizon", 10**6)
    assert "vacuous" not in out


def test_the_tables_say_why(run):
    code, out, err = run("plan", "teams:4x3", "--horizon", 100_000)
    assert (code, err) == (0, "")
    plan = sl.plan(sl.families.teams([3] * 4), 100_000)
    for name in plan.bound.terms:
        assert name in out
    for word in ("Plan for teams:4x3, 100,000 rounds", "certified", "inequalities hold", "Considered"):
        assert word in out
    weighed = out.partition("Considered")[2]
    for other in plan.details.considered:
        assert f"{other.value:,.1f}" in weighed
    assert weighed.splitlines()[2].startswith(" potential, all arms  flat")  # the smallest bound comes first
    assert f"{plan.bound.terms['smallest bound']:,.1f}" in weighed.splitlines()[2]
    assert "the smallest bound is" in out  # … and a note says why it is not the plan's own
    assert plan.details.note.endswith("easy losses are learnt faster than at the fixed rates of that bound")


def test_a_plan_for_any_number_of_rounds(run):
    found = answer(run, "cycle:6", "--anytime")
    assert found["horizon"] is None
    bound = sl.plan(sl.families.cycle(6), None).curve
    assert found["bound"] == bound.to_dict()
    assert bound.summary()[:40] in run("plan", "cycle:6", "--anytime")[1]


SHOWN = [10**3, 10**4, 10**5, 10**6, 10**7, 10**8]


FULL = pytest.mark.full


@pytest.mark.parametrize(
    "spec",
    [
        "cycle:6", "loopless_clique:6", "newsvendor:8", "mab:1",
        *(pytest.param(spec, marks=FULL) for spec in ("full:9", "corrupted_mab:64,4")),
    ],
)  # fmt: skip
def test_plans_without_a_horizon_show_their_bound_by_rounds(run, spec):
    """The same numbers in the table and in JSON, and everything they rest on is checked."""
    made = sl.plan(spec)
    found = answer(run, spec, "--anytime")
    assert [row["t"] for row in found["bound_at"]] == SHOWN
    for row in found["bound_at"]:
        bound = made.bound_at(row["t"])
        assert row["value"] == pytest.approx(bound.value, rel=1e-12)
        assert (row["certified"], row["informative"]) == (bound.certified, bound.informative)
    assert found["checks"]
    assert all(check["holds"] for check in found["checks"])
    code, out, err = run("plan", spec, "--anytime")
    assert (code, err) == (0, "")
    table = out.partition("After t rounds")[2].splitlines()
    for t, line in zip(SHOWN, table[2:], strict=True):
        assert line.split()[:2] == [f"{t:,}", f"{made.bound_at(t).value:,.1f}"]
    assert all(word in out for word in ("any number of rounds", "inequalities hold"))


def test_a_bound_that_says_nothing_yet_is_marked(run):
    lines = run("plan", "cycle:200", "--anytime")[1].splitlines()
    (first,) = (line for line in lines if line.split()[:1] == ["1,000"])
    assert "not below t" in first
    assert "not below t" not in lines[-1]


def test_communities_are_a_partition(run):
    found = answer(run, "teams:4x3", "-T", 5000, "--partition", "communities")
    expected = sl.partitions.communities(sl.families.teams([3] * 4))
    assert found["blocks"] == [block.tolist() for block in expected.blocks]


def test_a_horizon_or_none(run, fails):
    fails("plan", "cycle:6", "-T", 100, "--anytime", says="--anytime", code=2)
    assert answer(run, "cycle:6") == answer(run, "cycle:6", "--anytime")


def test_options_of_self_tuning_plans(run):
    found = answer(run, "cycle:20", "-T", 30_000, "--slack", 0.2, "--share", 0.25)
    made = sl.plan(sl.families.cycle(20), 30_000, slack=0.2, share=0.25)
    assert found["bound"] == made.bound.to_dict()
    assert found["parameters"] == made.parameters
    assert answer(run, "cycle:20", "-s", 0.7)["parameters"]["order"] == 0.7
    assert answer(run, "cycle:20", "--order", "bound")["parameters"]["order"] == 1.0
    code, _, err = run("plan", "cycle:20", "--order", "best")
    assert code != 0
    assert "'best'" in err


def test_a_plan_for_high_probability(run, fails):
    found = answer(run, "cycle:10", "-T", 10_000, "--confidence", 0.99)
    made = sl.plan(sl.families.cycle(10), 10_000, confidence=0.99)
    assert found["parameters"] == made.parameters
    assert found["likely"] == made.bound_at(10_000, 0.99).to_dict()
    code, out, _ = run("plan", "cycle:10", "-T", 10_000, "--confidence", 0.99)
    assert code == 0
    assert "with probability 0.99: regret ≤ 4,013.46" in out
    need = "--confidence 0.99 tunes a plan for one horizon: give --horizon"
    fails("plan", "cycle:10", "--confidence", 0.99, says=need, code=2)


@pytest.mark.parametrize("realization", ["adaptive", "clustered", "flat", "hybrid", "interpolated"])
def test_the_realization_asked_for(run, realization):
    assert answer(run, "cycle:8", "-T", 5000, "--realization", realization)["realization"] == realization


def test_partitions_by_name_and_from_files(run, tmp_path):
    blocks = [[0, 1, 2], [3, 4, 5]]
    by_name = answer(run, "cliques:2x3", "-T", 5000, "--partition", "components")
    assert by_name["blocks"] == blocks
    listed = tmp_path / "blocks.json"
    listed.write_text(json.dumps(blocks))
    assert answer(run, "cliques:2x3", "-T", 5000, "--partition", listed) == by_name
    saved = tmp_path / "plan.json"
    assert run("plan", "cliques:2x3", "-T", 5000, "--partition", "components", "-o", saved)[0] == 0
    assert answer(run, "cliques:2x3", "-T", 5000, "--partition", saved) == by_name


def test_a_search_may_find_a_better_partition(run):
    g = "random:9,0.4,7:loops"
    plain, searched = answer(run, g, "-T", 1e6), answer(run, g, "-T", 1e6, "--search", 1)
    assert searched["bound"]["value"] <= plain["bound"]["value"] * (1 + 1e-9)


@pytest.mark.parametrize("arguments", [("mab:3", "-T", 100), ("cycle:6",)])
def test_the_file_is_the_plan_that_the_library_saves(run, tmp_path, arguments):
    file, ours = tmp_path / "plan.json", tmp_path / "ours.json"
    code, out, _ = run("plan", *arguments, "-o", file)
    assert code == 0
    assert str(file) in out.replace("\n", "")
    horizon = 100 if "-T" in arguments else None
    sl.plan(arguments[0], horizon).save(ours)
    found, printed = json.loads(file.read_text()), answer(run, *arguments)
    named = {"graph": arguments[0], "digest": found["digest"]}  # which the library does not know
    assert found == json.loads(ours.read_text()) | named
    same = {name for name in found if name in printed and found[name] == printed[name]}
    assert same >= {"bound", "blocks", "horizon"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ours.json", "plan.json"]


def test_a_saved_plan_is_a_graph_too(run, tmp_path):
    assert run("plan", "cycle:6", "-T", 100, "-o", tmp_path / "plan.json")[0] == 0
    found = answer(run, tmp_path / "plan.json", "-T", 100)
    assert found.pop("graph")["arms"] == 6
    assert found["bound"] == answer(run, "cycle:6", "-T", 100)["bound"]


WRONG = {
    "no rounds": ("-T", "0"),
    "too many rounds": ("-T", "1e19"),
    "partition": ("-T", "9", "--partition", "halves"),
    "illegal": ("-T", "9", "--partition", "singletons"),
    "search": ("-T", "9", "--search", "-1"),
    "search nan": ("-T", "9", "--search", "nan"),
    "search any": ("--anytime", "--search", "1"),
    "blocks any": ("--anytime", "--realization", "clustered"),
    "fixed rates any": ("--anytime", "--realization", "flat"),
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_requests_that_cannot_be_met(fails, arguments):
    fails("plan", "cycle:6", *arguments)


@pytest.mark.parametrize("text", ["", "{", "3", '{"blocks": 3}', "[[0, 1], 2]", '[["a"]]', "\ufffe"])
def test_partition_files_that_are_wrong(fails, tmp_path, text):
    file = tmp_path / "blocks.json"
    file.write_bytes(text.encode("utf-16" if text == "\ufffe" else "utf-8"))
    fails("plan", "cycle:6", "-T", 9, "--partition", file)


def test_an_unknown_realization_is_refused_with_those_that_are_known(fails):
    fails("plan", "cycle:6", "-T", 9, "--realization", "fancy", says="interpolated", code=2)


def test_a_saved_plan_is_planned_for_its_own_horizon(run, tmp_path):
    file = tmp_path / "plan.json"
    sl.plan("cycle:5", 700).save(file)
    for options, horizon in (((), 700), (("-T", 90), 90), (("--anytime",), None)):
        code, out, err = run("plan", file, "--json", *options)
        assert code == 0, err
        assert json.loads(out)["horizon"] == horizon
