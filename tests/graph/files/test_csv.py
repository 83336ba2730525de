"""Edge lists as csv: dialects, names, labels beside the file, and every way to be wrong."""

import gzip
import re

import pytest
from graph_files import packed, put
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidelight.errors import GraphFileError, WeightsIgnored
from sidelight.graph import FeedbackGraph, families, read_graph, write_graph
from sidelight.graph.files import csv as csv_files

# -- csv --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "src,dst\n0,1\n2,2\n",
        "src,dst\n0,1\n2,2",
        "src,dst\r\n0,1\r\n2,2\r\n",
        "\ufeffsrc,dst\n0,1\n2,2\n",
        " SRC , Dst \n 0 ,\t1\n\n2,2\n\n",
        '"src","dst"\n"0","1"\n"2","2"\n',
        "src,dst,since\n0,1,0.5\n2,2,nan\n",
        'src,dst,since,note\n0,1,1,"a, b"\n2,2,1,x\n',
        "# anything\nsrc,dst\n0,1\n2,2\n0,1\n0,1\n",
        "src,dst\n00,01\n2,2\n",
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".CSV"])
def test_csv_dialects(tmp_path, text, ending):
    path = put(tmp_path, f"g{ending}", packed(text) if ending.endswith("gz") else text)
    assert read_graph(path) == FeedbackGraph.from_edges(3, [(0, 1), (2, 2)])


@pytest.mark.parametrize("header", ["src,dst,weight", "src,dst, Weight ,note"])
def test_weights_are_not_read_and_said_so(tmp_path, header):
    fields = header.count(",") + 1
    path = put(tmp_path, "g.csv", f"{header}\n" + ",".join("0120"[:fields]) + "\n")
    with pytest.warns(WeightsIgnored, match="'weight' is not read") as said:
        graph = read_graph(path)
    assert graph == FeedbackGraph.from_edges(2, [(0, 1)])
    assert said[0].filename == __file__


def naive_numbers(text, columns):
    """The edges, one line at a time; None if a line is not plainly one."""
    edges = []
    for line in text.split(b"\n")[:-1]:
        fields = line.rstrip(b"\r").split(b",")
        ids = [field.strip(b" \t") for field in fields[:2]]
        if line.rstrip(b"\r"):
            if len(fields) != columns or not all(re.fullmatch(rb"\d{1,18}", field) for field in ids):
                return None
            edges.append((int(ids[0]), int(ids[1])))
    return edges


numbers = st.one_of(st.integers(0, 30), st.integers(0, 2**31 - 2)).map(lambda value: str(value).encode())
fields = st.one_of(
    numbers,
    numbers,
    numbers,
    st.sampled_from(
        [b"", b" 7", b"7\t", b"-1", b"+1", b"1.5", b"1e3", b"nan", b"x", b"0x1", b"\xff", b"1 2"]
    ),
)
lines = st.one_of(
    st.tuples(numbers, numbers).map(b",".join),
    st.lists(fields, min_size=1, max_size=4).map(b",".join),
    st.sampled_from([b"", b"\r", b"0,1\r", b" ", b"\t\r", b"# 0,1"]),
)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.lists(lines, max_size=8), st.sampled_from([["src", "dst"], ["src", "dst", "since"]]))
@example([b"0,0", b"00012,3"], ["src", "dst"])
@example([b"1,2,0.5", b"3,4,anything at all"], ["src", "dst", "since"])
@example([b"0,1", b"0x10,1"], ["src", "dst"])
@example([b"0,1", b"99999999999999999999999999,1"], ["src", "dst"])
def test_numbers_are_read_like_split_and_int(rows, columns):
    text = b"".join(row + b"\n" for row in rows)
    found = csv_files._read_numbers(csv_files._Head(columns, 1, None), text)
    expected = naive_numbers(text, len(columns))
    if expected is None or not expected:
        assert found is None or found.sources.size == 0
    else:
        assert list(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == expected


def test_a_wrong_line_among_many(tmp_path):
    bad = put(tmp_path, "bad.csv", "src,dst\n" + "0,1\n" * 100_000 + "0;1\n" + "1,2\n" * 50)
    with pytest.raises(GraphFileError, match=r"bad\.csv, line 100002"):
        read_graph(bad)


def test_n_arms_and_undirected(tmp_path):
    path = put(tmp_path, "g.csv", "src,dst\n0,1\n1,2\n2,2\n")
    assert read_graph(path, n_arms=5).n_arms == 5
    both = FeedbackGraph.from_edges(3, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)])
    assert read_graph(path, undirected=True) == both
    empty = put(tmp_path, "empty.csv", "src,dst\n")
    assert read_graph(empty, n_arms=2) == FeedbackGraph.from_edges(2, [])


def test_names_are_numbered_by_first_appearance(tmp_path):
    path = put(tmp_path, "g.csv", 'src,dst\nbob,alice\n alice ,"van Gogh, V."\nbob,7\n')
    graph = read_graph(path)
    assert graph.labels == ("bob", "alice", "van Gogh, V.", "7")
    assert graph.edges().tolist() == [[0, 1], [0, 3], [1, 2]]


def test_names_may_refer_to_the_nodes_file(tmp_path):
    put(tmp_path, "g.nodes.csv.gz", packed("id,label\n1,bob\n0,alice\n2,carol\n"))
    graph = read_graph(put(tmp_path, "g.csv", "src,dst\nbob,alice\n"))
    assert graph.labels == ("alice", "bob", "carol")
    assert graph.edges().tolist() == [[1, 0]]
    with pytest.raises(GraphFileError, match="line 2: 'dave' is not a label"):
        read_graph(put(tmp_path, "g.csv", "src,dst\ndave,alice\n"))


def test_arbitrary_numbers_can_be_names(tmp_path):
    path = put(tmp_path, "g.csv", "src,dst\n99000000000,5\n5,-3\n")
    graph = read_graph(path, named=True)
    assert graph.labels == ("99000000000", "5", "-3")
    assert graph.edges().tolist() == [[0, 1], [1, 2]]


def test_the_nodes_file_tells_labels_and_isolated_arms(tmp_path):
    put(tmp_path, "g.nodes.csv", "id,label,team\n0,a,x\n1,b,y\n2,c,z\n")
    graph = read_graph(put(tmp_path, "g.csv", "src,dst\n0,1\n"))
    assert graph == FeedbackGraph.from_edges(3, [(0, 1)], "abc")


BAD_CSV = {
    "empty": (b"", "empty or was cut off"),
    "only comments": (b"# hello\n", "empty or was cut off"),
    "header only": (b"src,dst\n", "pass n_arms"),
    "no header": (b"0,1\n1,2\n", "line 1: the header must begin with src,dst, got '0,1'"),
    "other header": (b"from,to\n0,1\n", "'from,to'"),
    "swapped header": (b"dst,src\n0,1\n", "'dst,src'"),
    "blank first line": (b"\nsrc,dst\n0,1\n", "line 1"),
    "semicolons": (b"src;dst\n0;1\n", "'src;dst'"),
    "negative": (b"src,dst\n0,1\n-1,2\n", "line 3: '-1' is not an arm"),
    "negative first": (b"src,dst\n-1,2\n", "line 2: '-1'"),
    "float": (b"src,dst\n0,1\n1.5,2\n", "line 3: '1.5'"),
    "whole float": (b"src,dst\n1.0,2\n", "line 2: '1.0'"),
    "exponent": (b"src,dst\n0,1e3\n", "line 2: '1e3'"),
    "nan": (b"src,dst\n0,1\nnan,2\n", "line 3: 'nan'"),
    "nan first": (b"src,dst\nNaN,2\n", "line 2: 'NaN'"),
    "nan among names": (b"src,dst\nbob,al\nbob,NaN\n", "line 3: 'NaN' is a number"),
    "float among names": (b"src,dst\nbob,al\n1.5,al\n", "line 3: '1.5' is a number"),
    "word among numbers": (b"src,dst\n0,1\n\n0,bob\n", "line 4: 'bob'.*named=True"),
    "missing id": (b"src,dst\n0,1\n0,\n", "line 3: '' is not an arm"),
    "missing name": (b"src,dst\nbob,al\nbob,\n", "line 3: a name is missing"),
    "one column": (b"src,dst\n0,1\n5\n", "line 3: 1 columns where the header has 2"),
    "three columns": (b"src,dst\n0,1\n0,1,2\n", "line 3: 3 columns where the header has 2"),
    "lost field": (b"src,dst,since\n0,1,1\n0,1\n", "line 3: 2 columns where the header has 3"),
    "names, columns": (b"src,dst\nbob,al\nbob\n", "line 3: 1 columns"),
    "late comment": (b"src,dst\n0,1\n# x,y\n", "line 3"),
    "two numbers in one": (b"src,dst\n0,1\n0 1,2\n", "line 3: '0 1'"),
    "above 2^31": (b"src,dst\n0,2147483647\n", "line 2: '2147483647' is not an arm: .* to 2147483646"),
    "far above": (b"src,dst\n0," + b"9" * 5000 + b"\n", "line 2: '9999"),
    "absurd": (b"src,dst\n0,1\n1,2000000000\n", "2,000,000,001 arms with only 2 edges"),
    "absurd claim": (b"# n_arms=2000000000\nsrc,dst\n0,1\n", "2,000,000,000 arms"),
    "impossible claim": (b"# n_arms=99999999999\nsrc,dst\n0,1\n", "99,999,999,999 arms"),
    "zero claim": (b"# n_arms=0\nsrc,dst\n", "line 1: a graph needs at least one arm"),
    "broken claim": (b"# n_arms=2\nsrc,dst\n0,5\n", r"edges must join arms 0..1, got \(0, 5\)"),
    "latin-1": (b"src,dst\n0,1\n0,\xe9\n", "line 3: not UTF-8"),
    "latin-1 names": (b"src,dst\nbob,ren\xe9\n", "line 2: not UTF-8"),
    "latin-1 header": (b"src,dst\xe9\n", "line 1: not UTF-8"),
    "utf-16": ("src,dst\n0,1\n".encode("utf-16"), "line 1: not UTF-8"),
    "nul bytes": (b"src,dst\n0,\x001\n", "line 2: a name is missing"),
    "open quote": (b'src,dst\n"0,1\n', "line [23]: not csv"),
    "quoted float": (b'src,dst\n0,1\n"1.5",2\n', "line 3: '1.5'"),
    "old Mac": (b"src,dst\r0,1\r", "line 1"),
}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("name", BAD_CSV)
def test_bad_csv(tmp_path, name, ending):
    content, message = BAD_CSV[name]
    path = put(tmp_path, f"bad{ending}", gzip.compress(content) if ending == ".csv.gz" else content)
    with pytest.raises(GraphFileError, match=message) as caught:
        read_graph(path)
    assert str(path) in str(caught.value)


def test_an_endless_line_is_refused(tmp_path):
    path = put(tmp_path, "bad.csv.gz", packed("src,dst\n0,1\n" + "0" * 30_000_000))
    with pytest.raises(GraphFileError, match=r"line 3: not csv \(field larger"):
        read_graph(path)


def test_an_absurd_size_can_be_confirmed(tmp_path, monkeypatch):
    from sidelight.graph import edges as plausible

    monkeypatch.setattr(plausible, "TRUSTED_ARMS", 100)
    path = put(tmp_path, "g.csv", "src,dst\n0,1000\n")
    with pytest.raises(GraphFileError, match="pass n_arms=1001"):
        read_graph(path)
    assert read_graph(path, n_arms=1001).n_arms == 1001
    assert read_graph(path, named=True).n_arms == 2


def test_too_few_arms_asked_for(tmp_path):
    path = put(tmp_path, "g.csv", "src,dst\n0,1\n1,7\n")
    with pytest.raises(GraphFileError, match=r"edges must join arms 0..4, got \(1, 7\)"):
        read_graph(path, n_arms=5)


@pytest.mark.parametrize("cut", [0.02, 0.5, 0.99])
def test_truncated_gzip(tmp_path, cut):
    text = "src,dst\n" + "".join(f"{i},{(i * 7919) % 1000}\n" for i in range(1000))
    whole = packed(text)
    path = put(tmp_path, "cut.csv.gz", whole[: int(cut * len(whole))])
    with pytest.raises(GraphFileError, match="cut"):
        read_graph(path)


@pytest.mark.parametrize("flip", [0, 3, 100, 2000, -6])
def test_damaged_gzip(tmp_path, flip):
    text = "src,dst\n" + "".join(f"{i},{(i * 7919) % 1000}\n" for i in range(1000))
    damaged = bytearray(packed(text))
    damaged[flip] ^= 0xFF
    path = put(tmp_path, "bad.csv.gz", bytes(damaged))
    if flip == 3:  # the flags: some damage there still leaves a readable stream
        with pytest.raises(GraphFileError):
            read_graph(path)
        return
    with pytest.raises(GraphFileError, match=r"bad\.csv\.gz"):
        read_graph(path)


def test_a_plain_file_called_gz(tmp_path):
    with pytest.raises(GraphFileError, match=r"g\.csv\.gz cannot be read"):
        read_graph(put(tmp_path, "g.csv.gz", "src,dst\n0,1\n"))


BAD_NODES = {
    "header": ("name,id\nx,0\n", "line 1: the header must be id,label"),
    "empty": ("", "header must be id,label"),
    "no rows": ("id,label\n", "has no label"),
    "gap": ("id,label\n0,a\n2,b\n", "ids must be 0, 1, 2, …, arm 1 has no label"),
    "twice": ("id,label\n0,a\n0,b\n", "line 3: arm 0 has a label already"),
    "not a number": ("id,label\nx,a\n", "line 2"),
    "columns": ("id,label\n0\n", "line 2"),
    "same label": ("id,label\n0,a\n1,a\n", "labels must be distinct"),
    "latin-1": (b"id,label\n0,\xe9\n1,b\n", "line 2: not UTF-8"),
    "too few": ("id,label\n0,a\n", "edges must join arms 0..0"),
}


@pytest.mark.parametrize("name", BAD_NODES)
def test_bad_nodes_files(tmp_path, name):
    content, message = BAD_NODES[name]
    put(tmp_path, "g.nodes.csv", content)
    with pytest.raises(GraphFileError, match=message):
        read_graph(put(tmp_path, "g.csv", "src,dst\n0,1\n"))


def test_truncated_nodes_file(tmp_path):
    put(tmp_path, "g.nodes.csv.gz", packed("id,label\n0,a\n1,b\n")[:-9])
    with pytest.raises(GraphFileError, match=r"g\.nodes\.csv\.gz"):
        read_graph(put(tmp_path, "g.csv", "src,dst\n0,1\n"))


def test_contradictory_sizes(tmp_path):
    put(tmp_path, "g.nodes.csv", "id,label\n0,a\n1,b\n")
    path = put(tmp_path, "g.csv", "src,dst\n0,1\n")
    with pytest.raises(GraphFileError, match="n_arms 5, labels 2"):
        read_graph(path, n_arms=5)
    for ending in (".npz", ".mtx", ".graphml", ".json"):
        write_graph(families.cycle(4), tmp_path / f"cycle{ending}")
        with pytest.raises(GraphFileError, match=r"contradictory.* 5"):
            read_graph(tmp_path / f"cycle{ending}", n_arms=5)
        assert read_graph(tmp_path / f"cycle{ending}", n_arms=4, undirected=True) == families.cycle(4)


def test_gz_is_bounded(tmp_path):
    line = b"0,1\n"
    path = put(tmp_path, "g.csv.gz", gzip.compress(b"src,dst\n" + line * 1000))
    assert read_graph(path, limit=8 + 4000).n_edges == 1
    with pytest.raises(GraphFileError, match=r"more than 4,007 bytes; pass a larger limit"):
        read_graph(path, limit=4007)
    put(tmp_path, "g.nodes.csv.gz", gzip.compress(b"id,label\n0,a\n1," + b"b" * 10**5))
    with pytest.raises(GraphFileError, match=r"g.nodes.csv.gz .*more than 5,000 bytes"):
        read_graph(path, limit=5000)
