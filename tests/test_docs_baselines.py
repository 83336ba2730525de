"""The page on baselines: its examples print what stands below them, its table lists every baseline."""

import re
import subprocess
import sys
from pathlib import Path

import sidelight as sl

PAGE = (Path(__file__).parents[1] / "docs" / "baselines.md").read_text()


def test_the_examples_print_what_they_say():
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)
    assert len(examples) == 2
    for example, printed in examples:
        done = subprocess.run(
            [sys.executable, "-c", example], capture_output=True, text=True, check=True, timeout=300
        )
        assert done.stdout == printed


def test_the_table_lists_every_baseline():
    assert set(re.findall(r"^\| `(\w+)\(", PAGE, re.M)) == set(sl.baselines.__all__)
