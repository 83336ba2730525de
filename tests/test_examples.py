"""The examples run, and what they print is true of what they did."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def printed(name, capsys):
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def numbers(line):
    return [float(word.replace(",", "")) for word in re.findall(r"-?\d[\d,]*\.?\d*", line)]


def test_they_are_short_and_listed():
    readme, guide = ((ROOT / page).read_text() for page in ("README.md", "docs/in-a-program.md"))
    assert {path.stem for path in EXAMPLES} >= {"auction", "newsvendor", "pricing", "probing", "spam"}
    for path in EXAMPLES:
        source = path.read_text()
        assert len(source.splitlines()) <= 80, path
        assert len(ast.get_docstring(ast.parse(source)).splitlines()) >= 3
        assert f"examples/{path.name}" in readme, path
        assert f"examples/{path.name}" in guide, path


@pytest.mark.parametrize("name", ["newsvendor", "pricing"])
def test_money(name, capsys):
    """Regret is what the best fixed arm earned more; it is below what was certified, and that below the promise."""
    first, second, third, fourth = printed(name, capsys).splitlines()
    earned, fixed = numbers(first)[0], numbers(second)[-1]
    regret, certified, promised = numbers(third)
    assert regret == pytest.approx(fixed - earned, abs=1.0)
    assert 0 < regret < certified <= promised
    assert 0.1 < numbers(fourth)[-1] <= 1


def test_auction(capsys):
    """The same without a promise: none is made about graphs that change."""
    first, second, third, fourth = printed("auction", capsys).splitlines()
    gained, _, told, bids = numbers(first)
    regret, certified = numbers(third)
    assert 1 < told < bids
    assert regret == pytest.approx(numbers(second)[-1] - gained, abs=1.0)
    assert 0 < regret < certified
    assert numbers(fourth)[-1] > 0.1


def test_probing(capsys):
    first, second, third, fourth = printed("probing", capsys).splitlines()
    spent, fixed = numbers(first)
    regret, certified = numbers(second)
    unanswered, share = numbers(third)
    assert regret == pytest.approx(spent - fixed, abs=0.11)
    assert 0 < regret < certified
    assert share == pytest.approx(unanswered * 200 / 10_000, abs=0.1)
    assert numbers(fourth)[-1] > 0.8


@pytest.mark.slow
def test_shop(capsys, monkeypatch):
    """Against a service of its own: the certificate is above the regret, and intervals hold what was true."""
    monkeypatch.setattr("sys.argv", ["shop.py"])
    first, second, third, fourth, *looked_back = printed("shop", capsys).splitlines()
    earned, _, fixed, price = numbers(first)
    cancelled, still_open = numbers(second)
    regret, certified, lost = numbers(third)
    assert regret == pytest.approx(fixed - earned, abs=1.0)
    assert cancelled > 20
    assert still_open > 20
    assert lost == pytest.approx(40 * (cancelled + still_open), abs=1.0)
    assert 0 < regret < certified
    assert numbers(fourth)[-1] > 0.5
    named = {row[0]: row for row in map(numbers, looked_back[2:])}
    _, _, low, high, _ = named[price]
    assert low <= fixed / 4_000 <= high


def test_spam(capsys):
    lines = printed("spam", capsys).splitlines()[1:]
    assert len(lines) == 4
    for line in lines:
        cost, best, low, high, truth = numbers(line)
        assert best <= cost < best + 250
        assert low <= truth <= high
