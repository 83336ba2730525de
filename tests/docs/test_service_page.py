"""The page about the service, top to bottom against a real one: its blocks run and print what stands below them."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "service.md"
BLOCK = re.compile(r"```(sh|python)\n(.*?)```(?:\n\n```(text|json)\n(.*?)```)?", re.S)
ADDRESS = "http://127.0.0.1:8383"


@pytest.fixture
def served(tmp_path, monkeypatch):
    """`sidelight serve` in an empty folder, as the page starts it but at any port: what it says."""
    for name in [name for name in os.environ if name.startswith("SIDELIGHT_") and "CACHE" not in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "sidelight", "serve", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ}
    ) as process:
        try:
            said = [process.stdout.readline() for _ in range(3)]
            url, _, token = (line.split()[-1] for line in said)
            monkeypatch.setenv("SIDELIGHT_URL", url)
            monkeypatch.setenv("SIDELIGHT_TOKEN", token)
            yield said
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="the page asks by curl")
def test_the_page_is_true(served, tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    shown = re.search(r"\$ sidelight serve\n(.*?)```", page, re.S)[1].splitlines()
    assert [line.split(" ")[:-1] for line in shown] == [
        line.split(" ")[:-1] for line in map(str.rstrip, served)
    ]
    url = os.environ["SIDELIGHT_URL"]
    blocks = BLOCK.findall(page)
    assert len(blocks) == page.count("```sh\n") + page.count("```python\n") >= 10
    assert sum(bool(said) for *_, said in blocks) == page.count("```text\n") + page.count("```json\n")
    names = {"__name__": "page"}
    for kind, block, form, said in blocks:
        printed = in_shell(block) if kind == "sh" else in_python(block.replace(ADDRESS, url), names)
        if form == "json":
            assert shape(json.loads(printed)) == shape(json.loads(said)), block
        elif form == "text" or kind == "python":
            assert printed == said, block
    names["client"].close()
    assert (tmp_path / "data" / "sidelight" / "service.sqlite").exists()


def in_shell(block):
    """What a block prints; `sidelight` is the one that is tested."""
    known = f'sidelight() {{ "{sys.executable}" -m sidelight "$@"; }}\n'
    done = subprocess.run(["bash", "-euc", known + block], capture_output=True, text=True)
    assert done.returncode == 0, (block, done.stdout, done.stderr)
    return done.stdout


def in_python(block, names):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, str(PAGE), "exec"), names)
    return printed.getvalue()


def shape(value):
    """Keys and kinds, without the numbers: which arm is drawn is not the page's business."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return "number" if isinstance(value, int | float) else type(value).__name__
