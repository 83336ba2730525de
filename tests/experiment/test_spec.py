"""Specs: every mistake is found and named, and a cell's id depends on the cell alone."""

import gzip
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

import sidelight as sl
from sidelight.experiment.sources import LOOPS, GraphSource, LossSource

VALID = {
    "policies": ["auto", "flat"],
    "graphs": ["cycle:6", "mab:5"],
    "environments": ["gap:0.2", "switching:100,0.3"],
    "horizons": [500, 1000],
    "seeds": 3,
}
TOML = """
title = "Small"  # a comment
policies = ["auto", "flat"]
environments = ["gap:0.2"]
horizons = [500]
seeds = 3
graphs = ["cycle:6", "roads.csv", { file = "roads.csv", name = "both ways", undirected = true }]
"""


def spec_with(**changes):
    return sl.Spec.from_dict({**VALID, **changes})


def ids(spec):
    return {cell.id for cell in spec.cells}


# -- ids ---------------------------------------------------------------------------------------------------


def test_every_combination_is_a_cell_of_its_own():
    spec = spec_with()
    combinations = {(c.graph.name, c.policy, c.environment.name, c.horizon) for c in spec.cells}
    assert len(spec.cells) == len(ids(spec)) == len(combinations) == 16


def test_order_title_and_spelling_change_no_id_and_no_hash():
    spec = spec_with()
    reversed_ = spec_with(**{key: value[::-1] for key, value in VALID.items() if isinstance(value, list)})
    assert ids(reversed_) == ids(spec)
    assert reversed_.hash == spec.hash
    assert [c.id for c in reversed_.cells] != [c.id for c in spec.cells]
    spelled = spec_with(
        policies=["Auto", " flat "], environments=["Gap: 0.2", "switching: 100 , 0.3"], title="x"
    )
    assert spelled.hash == spec.hash
    assert ids(spec_with(graphs=["Cycle: 6", "mab:5"])) == ids(spec)


@pytest.mark.parametrize(
    ("key", "more"),
    [("policies", "clustered"), ("graphs", "cycle:7"), ("environments", "gap:0.4"), ("horizons", 2000)],
)
def test_adding_something_changes_no_other_id(key, more):
    larger = spec_with(**{key: [more, *VALID[key]]})
    assert ids(larger) > ids(spec_with())
    assert larger.hash != spec_with().hash


@pytest.mark.parametrize(
    "change", [{"seeds": 4}, {"seeds": [0, 1, 3]}, {"checkpoints": 10}, {"checkpoints": [7, 400]}], ids=str
)
def test_what_every_cell_shares_is_part_of_every_id(change):
    assert not ids(spec_with(**change)) & ids(spec_with())


def test_ids_are_the_same_tomorrow():
    assert [cell.id for cell in spec_with(horizons=[500], environments=["gap:0.2"]).cells] == [
        "a2c8c68442b74d32",
        "c933e865d5cf12a3",
        "19a9404a9e2f1882",
        "7040894d49a9d0de",
    ]


def test_a_file_counts_by_what_it_holds(tmp_path):
    g = sl.families.cycle(5)
    for name in ("a.csv", "b.npz"):
        sl.write_graph(g, tmp_path / name)
    one, two = (sl.Spec.from_dict({**VALID, "graphs": [name]}, tmp_path) for name in ("a.csv", "b.npz"))
    assert ids(one) == ids(two)
    sl.write_graph(sl.families.mab(5), tmp_path / "a.csv")
    assert not ids(sl.Spec.from_dict({**VALID, "graphs": ["a.csv"]}, tmp_path)) & ids(one)
    with pytest.raises(sl.errors.ResultsError, match=r"a\.csv has changed"):
        one.graphs[0].build()


# -- values ------------------------------------------------------------------------------------------------


def test_a_file_with_every_kind_of_graph(tmp_path):
    (tmp_path / "roads.csv").write_text("src,dst\n0,1\n1,2\n2,0\n")
    (tmp_path / "spec.toml").write_text(TOML)
    spec = sl.Spec.read(tmp_path / "spec.toml")
    assert (spec.title, spec.text) == ("Small", TOML)
    assert [graph.name for graph in spec.graphs] == ["cycle:6", "roads.csv", "both ways"]
    assert [graph.build().n_edges for graph in spec.graphs] == [12, 3, 6]


def test_the_example_of_the_documentation(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    example = text.split("```toml")[1].split("```")[0]
    (tmp_path / "roads.csv").write_text("src,dst\n0,1\n1,2\n")
    (tmp_path / "spec.toml").write_text(example, encoding="utf-8")
    spec = sl.Spec.read(tmp_path / "spec.toml")
    assert [graph.name for graph in spec.graphs] == ["cycle:100", "roads.csv", "roads, both ways", "one way"]
    assert len(spec.cells) == 48
    for choice in ("seeds", "checkpoints"):  # and with each of the lines that are commented out
        for line in re.findall(rf"^# ({choice} = .*)$", example, flags=re.MULTILINE):
            (tmp_path / "spec.toml").write_text(
                re.sub(rf"(?m)^{choice} = .*$", line, example), encoding="utf-8"
            )
            assert getattr(sl.Spec.read(tmp_path / "spec.toml"), choice) != getattr(spec, choice)


def test_self_loops_where_asked(tmp_path):
    (tmp_path / "g.csv").write_text("src,dst\n0,1\n0,2\n")
    entries = [{"file": "g.csv", "loops": which, "name": which} for which in ("unobservable", "all")]
    spec = sl.Spec.from_dict({**VALID, "graphs": entries}, tmp_path)
    first, second = (graph.build() for graph in spec.graphs)
    assert first.has_loop.tolist() == [True, False, False]
    assert second.has_loop.tolist() == [True, True, True]
    assert sl.observability(first).unobservable.size == 0


@pytest.mark.parametrize(
    "family", ["full:5", "loopless_clique:4", "cycle:5", "apple_tasting", "corrupted_mab:6,2"]
)
def test_loops_and_packing_keep_all_other_edges(family):
    g = sl.families.parse(family)
    dense = g.to_sparse().toarray().astype(bool)
    everyone, unseen = (
        GraphSource("g", family=family, loops=which).build().to_sparse().toarray().astype(bool)
        for which in LOOPS[::-1]
    )
    assert np.array_equal(everyone, dense | np.eye(g.n_arms, dtype=bool))
    assert np.array_equal(unseen, dense | np.diag(~dense.any(axis=0)))
    again = sl.FeedbackGraph.from_arrays(g.to_arrays())
    assert again == g
    assert again.digest == g.digest
    assert not again.out_indices.flags.writeable


def test_digests_tell_graphs_apart():
    graphs = [sl.families.parse(text) for text in ("cycle:5", "cycle:5:directed", "mab:5", "full:5", "mab:6")]
    graphs.append(sl.FeedbackGraph.from_edges(5, graphs[0].edges(), labels=list("abcde")))
    assert all(a.digest != b.digest for a, b in itertools.combinations(graphs, 2))


def test_seeds_and_checkpoints():
    assert spec_with(seeds={"first": 7, "count": 3}).seeds == (7, 8, 9)
    assert spec_with(seeds=[5, 2]).seeds == (5, 2)
    spec = spec_with(checkpoints=[1000, 10, 700])
    assert {c.horizon: c.rounds.tolist() for c in spec.cells} == {500: [10, 500], 1000: [10, 700, 1000]}
    assert spec_with(checkpoints=5).cells[0].rounds[-1] == 500


# -- mistakes ----------------------------------------------------------------------------------------------

MISTAKES = {
    "unknown key": ({"policy": ["auto"]}, "policy: unknown key .*did you mean 'policies'"),
    "a text for a list": ({"policies": "auto"}, "policies: must be a list, got 'auto'"),
    "empty": ({"horizons": []}, "horizons: must not be empty"),
    "no policy of this name": ({"policies": ["auto", "flatt"]}, r"policies\[1\]: .*'flatt'; did you mean 'flat'"),
    "a number for a policy": ({"policies": [3]}, r"policies\[0\]: must be a name, .* got 3"),
    "twice": ({"policies": ["flat", "Flat"]}, r"policies\[1\]: the same as policies\[0\]"),
    "horizon of nothing": ({"horizons": [0]}, r"horizons\[0\]: must be a whole number from 1 .*got 0"),
    "fractional horizon": ({"horizons": [1e5]}, r"horizons\[0\]: .*got 100000\.0"),
    "horizon true": ({"horizons": [True]}, r"horizons\[0\]: .*got True"),
    "horizon twice": ({"horizons": [10, 10]}, r"horizons\[1\]: the same as horizons\[0\]"),
    "no seeds": ({"seeds": 0}, "seeds: must be a whole number from 1 .*got 0"),
    "negative seed": ({"seeds": [1, -4]}, r"seeds\[1\]: .*got -4"),
    "seed twice": ({"seeds": [1, 1]}, r"seeds\[1\]: the same as seeds\[0\]"),
    "seeds as text": ({"seeds": "20"}, "seeds: must be a number of seeds, .*got '20'"),
    "seeds half given": ({"seeds": {"count": 3}}, r"seeds\.first: this key is missing"),
    "seeds misspelt": ({"seeds": {"first": 0, "cuont": 3}}, r"seeds\.cuont: .*did you mean 'count'"),
    "late checkpoint": ({"checkpoints": [5000]}, r"checkpoints\[0\]: .*from 1 to 1000, got 5000"),
    "checkpoints as text": ({"checkpoints": "many"}, "checkpoints: .*got 'many'"),
    "title": ({"title": 4}, "title: must be a text, got 4"),
    "family": ({"graphs": ["cycel:6"]}, r"graphs\[0\]: unknown family 'cycel'.*did you mean 'cycle'"),
    "no file": ({"graphs": ["missing.csv"]}, r"graphs\[0\]: .*missing\.csv does not exist"),
    "same graph": ({"graphs": ["cycle:6", "cycle: 6"]}, r"graphs\[1\]: the same as graphs\[0\]"),
    "same name": (
        {"graphs": ["cycle:6", {"family": "cycle:7", "name": "cycle:6"}]},
        r"graphs\[1\]: called 'cycle:6' like graphs\[0\]",
    ),
    "graph option": ({"graphs": [{"family": "cycle:6", "lops": "all"}]}, r"graphs\[0\]\.lops: .*mean 'loops'"),
    "graph loops": ({"graphs": [{"family": "cycle:6", "loops": "some"}]}, r"\.loops: .*got 'some'"),
    "graph both": ({"graphs": [{"family": "cycle:6", "file": "a.csv"}]}, "either a file or a family"),
    "graph neither": ({"graphs": [{"name": "x"}]}, "either a file or a family, got name"),
    "graph number": ({"graphs": [7]}, r"graphs\[0\]: must be a family .*got 7"),
    "named family": ({"graphs": [{"family": "cycle:6", "named": True}]}, r"graphs\[0\]\.named: unknown key"),
    "undirected as text": ({"graphs": [{"family": "cycle:6", "undirected": "yes"}]}, "true or false, got 'yes'"),
    "environment": ({"environments": ["gapp"]}, r"environments\[0\]: .*did you mean 'gap'"),
    "environment arguments": ({"environments": ["gap:much"]}, r"environments\[0\]: .*gap:much"),
    "environment nowhere": ({"environments": ["gap:0.2,9"]}, r"environments\[0\]: .*9"),
    "environment twice": ({"environments": ["gap", "gap"]}, r"environments\[1\]: the same"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    changes, message = MISTAKES[mistake]
    with pytest.raises(sl.errors.SpecError, match=message) as refused:
        spec_with(**changes)
    assert str(refused.value).startswith("the spec: ")


@pytest.mark.parametrize("key", VALID)
def test_every_key_of_a_spec_is_needed(key):
    with pytest.raises(sl.errors.SpecError, match=f"{key}: this key is missing"):
        sl.Spec.from_dict({name: value for name, value in VALID.items() if name != key})


def test_an_environment_may_fit_some_graphs_only():
    assert (
        spec_with(environments=["gap:0.2,5"]).environments[0].name == "gap:0.2,5"
    )  # arm 5: in cycle:6 alone


def test_mistakes_in_files_name_the_file(tmp_path):
    file = tmp_path / "s.toml"
    with pytest.raises(sl.errors.SpecError, match=re.escape(f"{file} does not exist")):
        sl.Spec.read(file)
    file.write_text("policies = [")
    with pytest.raises(sl.errors.SpecError, match=re.escape(f"{file} is not valid TOML")):
        sl.Spec.read(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(sl.errors.SpecError, match=re.escape(f"{file} cannot be read as text")):
        sl.Spec.read(file)
    with pytest.raises(sl.errors.SpecError, match="cannot be read as text"):
        sl.Spec.read(tmp_path)
    file.write_text(TOML.replace("seeds = 3", "sedes = 3"))
    with pytest.raises(sl.errors.SpecError, match=re.escape(f"{file}: sedes: unknown key")):
        sl.Spec.read(file)


# -- losses from files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("horizons = " + "[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("horizons = " + "{a = " * 50_000 + "1" + "}" * 50_000, "nested too deeply"),
        ("horizons = " + "[" * 90 + "1" + "]" * 90, r"horizons\[0\].*got \[\[\["),
        ("horizons = [" + "9" * 5_000 + "]", "not valid TOML.*digits"),
        ("title = '" + "x" * 2**20 + "'", "longer than 1,048,576 bytes.*limit="),
    ],
    ids=["lists", "tables", "a few lists", "a long number", "long"],
)
def test_reading_is_bounded(tmp_path, text, message):
    keys = [f"{key} = {value!r}" for key, value in VALID.items() if not text.startswith(key)]
    (tmp_path / "spec.toml").write_text("\n".join([*keys, text]))
    with pytest.raises(sl.errors.SpecError, match=message) as refused:
        sl.Spec.read(tmp_path / "spec.toml")
    assert len(str(refused.value)) < 1_500


def test_a_spec_of_too_many_cells_is_refused_before_anything_is_made():
    with pytest.raises(sl.errors.SpecError, match=r"at most 1,000,000 cells, got 4,000,000"):
        spec_with(horizons=list(range(1, 500_001)))


def test_the_length_of_a_spec_may_be_allowed(tmp_path):
    text = "\n".join(f"{key} = {value!r}" for key, value in VALID.items()) + "\n" + "# more\n" * 200_000
    (tmp_path / "spec.toml").write_text(text)
    with pytest.raises(sl.errors.SpecError, match="longer than"):
        sl.Spec.read(tmp_path / "spec.toml")
    assert len(sl.Spec.read(tmp_path / "spec.toml", limit=2**22).cells) == len(spec_with().cells)


def test_environments_with_files_count_by_what_these_hold(tmp_path):
    for name in ("A.npy", "b.npy"):
        (tmp_path / name).write_bytes(b"losses")
    one, two, repeated = (
        LossSource.from_text(text, tmp_path).checked()
        for text in ("Replay: A.npy", "replay:b.npy", "replay:A.npy, repeat")
    )
    assert (one.name, repeated.name) == ("replay:A.npy", "replay:A.npy,repeat")
    assert one.identity == two.identity != repeated.identity
    assert one.path == tmp_path / "A.npy"
    assert one.in_words_of_spec(f"'replay:{tmp_path}/A.npy' is odd") == "'replay:A.npy' is odd"
    (tmp_path / "A.npy").write_bytes(b"other losses")
    two.verify()
    with pytest.raises(sl.errors.ResultsError, match=r"A\.npy has changed"):
        one.verify()
    (tmp_path / "A.npy").unlink()
    with pytest.raises(sl.errors.ResultsError, match=r"A\.npy cannot be read: No such file"):
        one.verify()
    own = LossSource.from_text("Mine.py:World", tmp_path)
    assert (own.name, own.path, own.after) == ("Mine.py:World", tmp_path / "Mine.py", ":World")


def put(folder, name, card, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(card))
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write(text)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Losses on a recorded graph, losses on a graph that changes, and demand."""
    losses, graphs = tmp_path / "data" / "losses", tmp_path / "data" / "graphs"
    card = {"form": "value_matrix", "suggested_loss": "min(x,1)/1", "feedback_graph": "graphs/road"}
    put(graphs, "road", {"N": 3, "directed": False}, "src,dst\n0,1\n1,2\n")
    put(losses, "traffic", card, "a,b,c\n0,1,0.5\n1,0,0.5\n")
    moving = {**card, "feedback_graph": "losses/cases.edges.csv.gz", "arms": 2}
    put(losses, "cases", moving, "a,b\n0,1\n")
    (losses / "cases.edges.csv.gz").write_bytes(gzip.compress(b"t,src,dst\n0,0,0\n0,1,1\n"))
    put(losses, "dishes", {"form": "series"}, "soup,stew\n1,2\n3,4\n")
    monkeypatch.setenv("SIDELIGHT_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (
            "dataset:traffic,repeat",
            ("losses/traffic.json", "losses/traffic.csv.gz", "graphs/road.json", "graphs/road.csv.gz"),
        ),
        ("dataset:cases", ("losses/cases.json", "losses/cases.csv.gz", "losses/cases.edges.csv.gz")),
        ("dataset:dishes,stew", ("losses/dishes.json", "losses/dishes.csv.gz")),
    ],
)
def test_data_sets_count_by_every_file_they_are_read_from(data, text, files):
    source = LossSource.from_text(text, data).checked()
    assert source.name == text
    for file in files:
        before = (data / file).read_bytes()
        other = before + b" " if file.endswith("json") else gzip.compress(gzip.decompress(before) + b"\n")
        (data / file).write_bytes(other)
        assert LossSource.from_text(text, data).checked().identity != source.identity
        with pytest.raises(sl.errors.ResultsError, match=r"the data set .* has changed"):
            source.verify()
        (data / file).unlink()
        with pytest.raises((sl.errors.ResultsError, sl.InvalidOption), match=Path(file).name.split(".")[0]):
            source.verify()
        (data / file).write_bytes(before)
        source.verify()
    unrelated = data / "losses" / "other.json"
    unrelated.write_text("{}")
    source.verify()


def test_what_is_taken_from_a_data_set_counts_too(data):
    texts = ("dataset:dishes", "dataset:dishes,soup", "dataset:dishes,stew", "dataset:dishes,stew,repeat")
    identities = [LossSource.from_text(text, data).checked().identity for text in texts]
    assert all(one != two for one, two in itertools.combinations(identities, 2))
    assert LossSource.from_text("Dataset: dishes , stew", data).checked().identity == identities[2]


def test_labels_beside_a_recorded_graph_count(data):
    source = LossSource.from_text("dataset:traffic", data).checked()
    (data / "graphs" / "road.nodes.csv").write_text("id,label\n0,x\n1,y\n2,z\n")
    with pytest.raises(sl.errors.ResultsError, match="has changed"):
        source.verify()


def test_a_file_is_spoken_of_in_the_words_of_toml(tmp_path):
    file = tmp_path / "spec.toml"
    file.write_text(
        'policies = "auto"\ngraphs = ["cycle:5"]\nenvironments = ["gap"]\nhorizons = [9]\nseeds = 2\n'
    )
    with pytest.raises(sl.errors.SpecError, match="policies: must be a list, got 'auto'"):
        sl.Spec.read(file)
