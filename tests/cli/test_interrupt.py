import click
import pytest

from sidelight.cli.demo import run_demo
from sidelight.experiment import simulation


def test_an_interrupted_demo_shows_no_half_results(monkeypatch, tmp_path, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "_wait", interrupted)
    monkeypatch.setattr(simulation, "CHUNK_SECONDS", 1e-9)
    with pytest.raises(click.Abort):
        run_demo("cycle:6", 100_000, 2, 1, str(tmp_path / "out"), as_json=False)
    assert capsys.readouterr().out == ""
    assert not list((tmp_path / "out").iterdir())
