"""How large a page is, how soon it can be used, and how smoothly it follows the pointer.

    python -m benchmarks.bench_page [--screenshots DIR]

Made-up results, a real Chromium from the path without a graphics card, medians of five loads. Targets: a report of
24 comparisons in at most 3 MB, usable within a second, 60 curves of 1,000 points at 30 frames per second or more
while the pointer moves over them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from browsing import DESKTOP, PHONE, chromium, launched, visiting
from finished_cells import bound, curve_cell, results

import sidelight as sl
from sidelight.report.page import write_report
from sidelight.report.section import Analysis, GraphSection

GRAPHS = ("cycle:12", "teams:4x3", "cliques:5x4", "mab:10")
POLICIES = (
    "self_tuning",
    "auto",
    "exp3g",
    "chlz21",
    "exp3_ix",
    "tsallis_inf",
    "ucb_n",
    "ftl",
    "hedge",
    "uniform",
)
HORIZONS, ENVIRONMENTS, SEEDS = (1_000, 10_000, 100_000), ("gap:0.2", "switching"), 20

READY = "() => performance.getEntriesByName('ready')[0].startTime"
FRAMES = """async ([selector, seconds]) => {
  const over = document.querySelector(selector);
  over.scrollIntoView({ block: "center" });
  await new Promise(requestAnimationFrame);
  const box = over.getBoundingClientRect();
  const times = [performance.now()];
  while (times.at(-1) - times[0] < 1000 * seconds) {
    const angle = times.length / 9;
    const clientX = box.left + box.width * (0.5 + 0.45 * Math.sin(angle));
    const clientY = box.top + box.height * (0.5 + 0.4 * Math.cos(1.7 * angle));
    const moved = { clientX, clientY, bubbles: true, view: window };
    over.dispatchEvent(new PointerEvent("pointermove", moved));
    over.dispatchEvent(new MouseEvent("mousemove", moved));
    await new Promise(requestAnimationFrame);
    times.push(performance.now());
  }
  const gaps = times.slice(1).map((time, k) => time - times[k]).sort((a, b) => a - b);
  return [(1000 * (times.length - 1)) / (times.at(-1) - times[0]), gaps[Math.floor(0.95 * gaps.length)]];
}"""


def studied() -> tuple[sl.Results, dict[str, GraphSection]]:
    """24 comparisons of ten policies with 20 seeds and 80 checkpoints, on four graphs with all their bounds."""
    sections, cells = {}, []
    for name in GRAPHS:
        graph = sl.families.parse(name)
        bounds = (sl.compare_bounds(graph, T) for T in HORIZONS)
        sections[name] = GraphSection.of(*bounds, facts=tuple(Analysis.of(graph).rows()))
        for environment in ENVIRONMENTS:
            for T in HORIZONS:
                for k, policy in enumerate(POLICIES):
                    cells.append(
                        _cell(
                            policy,
                            0.45 + 0.06 * k,
                            T,
                            80,
                            graph=name,
                            environment=environment,
                            arms=graph.n_arms,
                        )
                    )
    return results(*cells, title="24 comparisons"), sections


def _cell(policy: str, exponent: float, T: int, points: int, **names: object):
    rounds = np.unique(np.geomspace(1, T, points).astype(np.int64))
    rng = np.random.default_rng(len(policy))
    steps = rng.lognormal(0, 0.3, (SEEDS, rounds.size)) * np.diff(rounds**exponent, prepend=0.0)
    regret = np.cumsum(steps, axis=1)
    return curve_cell(
        policy,
        horizon=T,
        seeds=SEEDS,
        checkpoints=rounds,
        regret=regret,
        cost=regret,
        ledger=regret[:, :, None] * np.array([0.5, 0.4, 0.3, -0.1]),
        certificate=1.6 * regret,
        bound=bound(4.0 * T**exponent, horizon=T),
        **names,
    )


def many_curves() -> sl.Results:
    """One comparison of 60 policies at 1,000 checkpoints."""
    return results(
        *(_cell(f"policy {k}", 0.4 + 0.008 * k, 10**7, 1400, arms=12) for k in range(60)), title="60 curves"
    )


def measured(browser, path: Path, loads: int = 5) -> float:
    """Median milliseconds from the request to a page that can be used."""
    times = []
    for _ in range(loads):
        with visiting(browser, path.as_uri()) as visit:
            assert visit.errors == [], visit.errors
            times.append(visit.page.evaluate(READY))
    return statistics.median(times)


def frames(browser, path: Path, selector: str, seconds: float = 3.0) -> tuple[float, float]:
    """Frames per second, and the 95th percentile of the milliseconds between two, while the pointer moves."""
    with visiting(browser, path.as_uri()) as visit:
        rate, slow = visit.page.evaluate(FRAMES, [selector, seconds])
        assert visit.errors == [], visit.errors
    return rate, slow


def screenshots(browser, path: Path, folder: Path, name: str) -> None:
    """The first screen and the whole page, desktop and phone, light and dark."""
    folder.mkdir(parents=True, exist_ok=True)
    for size, viewport in (("desktop", DESKTOP), ("phone", PHONE)):
        for scheme in ("light", "dark"):
            with visiting(browser, path.as_uri(), viewport, scheme) as visit:
                visit.page.screenshot(path=folder / f"{name}-{size}-{scheme}.png")
                visit.page.screenshot(path=folder / f"{name}-{size}-{scheme}-whole.png", full_page=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of the pages")
    wanted = parser.parse_args()
    if chromium() is None:
        sys.exit("no Chromium on the path: apt-get install chromium")
    with tempfile.TemporaryDirectory() as place, launched() as browser:
        folder = Path(place)
        large = write_report(folder / "large", *studied(), files=False)
        curves = write_report(folder / "curves", many_curves(), files=False)
        graph = sl.families.parse("random:10000,0.0003,1")
        many = write_report(
            folder / "many",
            results(curve_cell(graph="many", arms=10_000)),
            {"many": GraphSection(graph)},
            files=False,
        )
        points = many_curves().cells[0].checkpoints.size
        rows = [
            ("24 comparisons: size", f"{large.stat().st_size / 1e6:.2f} MB", "≤ 3 MB"),
            ("24 comparisons: usable after", f"{measured(browser, large):.0f} ms", "≤ 1,000 ms"),
            (
                f"60 curves of {points:,} points: usable after",
                f"{measured(browser, curves):.0f} ms",
                "≤ 1,000 ms",
            ),
        ]
        rate, slow = frames(browser, curves, "#regret-plot .u-over")
        rows.append(
            (f"60 curves of {points:,} points: hovering", f"{rate:.0f} frames/s (p95 {slow:.0f} ms)", "≥ 30")
        )
        rows.append(
            (f"10,000 arms, {graph.n_edges:,} edges: size", f"{many.stat().st_size / 1e6:.2f} MB", "")
        )
        rows.append(("10,000 arms: usable after", f"{measured(browser, many):.0f} ms", "≤ 1,000 ms"))
        rate, slow = frames(browser, many, "#graph-canvas")
        rows.append(("10,000 arms: hovering", f"{rate:.0f} frames/s (p95 {slow:.0f} ms)", "≥ 30"))
        print(f"{'what':<44}{'measured':>28}  target")
        for what, value, target in rows:
            print(f"{what:<44}{value:>28}  {target}")
        if wanted.screenshots:
            for name, path in (("large", large), ("curves", curves), ("many", many)):
                screenshots(browser, path, wanted.screenshots, name)


if __name__ == "__main__":
    main()
