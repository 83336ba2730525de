"""The page about environments: its code runs, and its table is complete."""

import re
from pathlib import Path

import sidelight as sl

PAGE = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")


def test_the_code_runs_as_written():
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(block, names)
        assert names["run"].complete
    assert names["quick"].world is not None
    assert names["slow"].world is None


def test_every_environment_is_in_the_table():
    rows = re.findall(r"^\| `(\w+)\(", PAGE, flags=re.MULTILINE)
    makers = {name for name in sl.environments.__all__ if name[0].islower()}
    assert set(rows) == makers - {"dataset_names", "parse", "usages"}
    for usage in sl.environments.usages():
        assert f"`{usage}`" in PAGE
