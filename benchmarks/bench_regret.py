"""Regret of what users get by default against everything else that applies: python -m benchmarks.bench_regret.

13 families and, where SIDELIGHT_DATA names the folder of data sets, 4 data graphs; gaps, switching, drifting and
opposed losses, hard instances, recorded data; T = 10⁴ and 10⁵, 20 seeds. A sweep plays them, on all cores, into the
folder `-o`, and continues where it stopped. Prints Markdown and writes it as `regret.md` beside `regret.csv`, one row
for each policy in each game. `--quick` plays a few games in less than a minute.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

from benchmarks.regret.entry import Entry, write
from benchmarks.regret.tables import BASELINES, GAPS, OLD, OURS, POSITIVE, tables

import sidelight as sl
from sidelight.environment.data import VARIABLE, data_folder
from sidelight.errors import MissingData, WeightsIgnored
from sidelight.policy import names

FAMILIES = (
    "cycle:20", "cycle:20:directed", "teams:5x4", "hypercube:5", "revealing_action:20", "corrupted_mab:20,1",
    "bicliques:4x8", "mab:20", {"family": "cliques:5x8", "name": "cliques:5x8 with loops", "loops": "all"},
    "full:20", "loopless_clique:20", "loopy_star:20", "newsvendor:26",
)  # fmt: skip
DATA_GRAPHS = (
    {"file": "karate.csv.gz", "undirected": True},
    {"file": "macaque.csv.gz"},
    {"file": "open_bandit_items.csv.gz", "undirected": True, "loops": "unobservable"},
    {"file": "metr_la.csv.gz"},
)
RECORDED = {
    "newsvendor:26": "dataset:yaz_demand,repeat",
    "open_bandit_items": "dataset:open_bandit_random_all",
    "metr_la": "dataset:metr_la_week,repeat",
}
"""Losses that were recorded on a graph; rounds beyond the last start over."""
ENVIRONMENTS = (*GAPS, "switching", "drifting", "opposed:0.2", "hard")
MARK = "<!-- below this line: printed by benchmarks/bench_regret.py -->"
QUICK = ("cycle:20", "teams:5x4", "revealing_action:20", "mab:20")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("bench-regret"), help="folder of results")
    parser.add_argument(
        "--quick", action="store_true", help="four graphs, gaps and hard, T = 10⁴, five seeds"
    )
    parser.add_argument("--page", type=Path, help="also put the tables into this file, below its mark")
    parser.add_argument("--read", action="store_true", help="play nothing: tables of what has been played")
    parser.add_argument("--jobs", type=int, help="processes, all cores unless given")
    parser.add_argument("--graphs", nargs="*", help="only these graphs, by name")
    parser.add_argument("--policies", nargs="*", help="only these policies")
    parser.add_argument("--horizons", nargs="*", type=int)
    parser.add_argument("--seeds", type=int)
    options = parser.parse_args()
    entries = []
    for part, spec in specs(options).items():
        results = (
            stored(options.output / part) if options.read else played(spec, options.output / part, options)
        )
        kinds = {source.name: sl.observability(source.build()).graph for source in spec.graphs}
        entries += [Entry.of(cell, kinds[cell.graph]) for cell in results.cells]
    write(options.output / "regret.csv", entries)
    text = "\n".join(tables(entries)) + "\n"
    (options.output / "regret.md").write_text(text, encoding="utf-8")
    if options.page:
        before, mark, _ = options.page.read_text(encoding="utf-8").partition(MARK)
        if not mark:
            sys.exit(f"{options.page} has no line {MARK}")
        options.page.write_text(f"{before}{MARK}\n\n{text}", encoding="utf-8")
    print(text)


def played(spec, folder, options):
    """All cells of the spec; the end of the program if it is interrupted."""
    print(folder, file=sys.stderr)
    jobs = options.jobs or (1 if options.quick else None)  # few rounds are over before workers have started
    results = sl.sweep(spec, folder, jobs=jobs, progress=True)
    if not results.complete:
        sys.exit("unfinished; the same command continues")
    return results


def stored(folder):
    """The cells that are there."""
    return sl.Results.read(folder) if folder.exists() else sl.Results(())


def specs(options):
    """{folder: spec}: for each policy all graphs in all environments, then each recorded data set on its graph.

    A policy that is added, or whose folder is deleted because it has changed, leaves the results of others alone.
    """
    graphs = {each if isinstance(each, str) else each["name"]: each for each in FAMILIES}
    try:
        folder = data_folder()
    except MissingData as error:
        print(f"no data graphs, no recorded losses: {error}", file=sys.stderr)
        folder = None
    else:
        os.environ[VARIABLE] = str(folder.absolute())  # also for the processes that play
        for each in DATA_GRAPHS:
            name = each["file"].partition(".")[0]
            graphs[name] = {**each, "file": str(folder.absolute() / "graphs" / each["file"]), "name": name}
    wanted = options.graphs or (QUICK if options.quick else list(graphs))
    if unknown := [name for name in wanted if name not in graphs]:
        sys.exit(f"no graph {unknown[0]!r} here; there are {', '.join(graphs)}")
    policies = options.policies or [name for name in (*OURS, *OLD, *BASELINES) if name in names.names()]
    values = {
        "horizons": options.horizons or ([10_000] if options.quick else [10_000, 100_000]),
        "seeds": options.seeds or (5 if options.quick else 20),
    }

    parts = {"games": ([graphs[name] for name in wanted], list(POSITIVE if options.quick else ENVIRONMENTS))}
    if folder is not None and not options.quick:
        for name, text in RECORDED.items():
            if name in wanted:
                parts[text.split(":")[1].split(",")[0]] = ([graphs[name]], [text])
    return {
        f"{policy}/{part}": sl.Spec.from_dict(
            {**values, "policies": [policy], "graphs": some, "environments": environments}
        )
        for policy in policies
        for part, (some, environments) in parts.items()
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore", WeightsIgnored)  # every line of a data graph is an edge
    main()
