"""Print again what README.md and docs/cli.md quote: `python docs/outputs.py` (about a minute).

The first example of the readme, the demo, and every ```console block but those of `doctor`, which names files of the
machine, and of `evaluate`, whose log a test writes; in one folder and in their order. Tests say when the readme
quotes what is no longer printed.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NOTICE = "compiling kernels, once"  # said where nothing is compiled yet
ROOT = Path(__file__).parents[1]


def main() -> None:
    """Play, and replace what is quoted."""
    with tempfile.TemporaryDirectory() as folder:
        readme = ROOT / "README.md"
        text = readme.read_text()
        example, printed = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", text, re.S).groups()
        text = text.replace(printed, output([sys.executable, "-c", example], folder))
        demo = output([sys.executable, "-m", "sidelight", "demo"], folder)
        bound, table = re.search(r"(Bound\n.*?)(Regret of .*?)report:", demo, re.S).groups()
        text = re.sub(r"Bound\n regret at most.*?```", lambda _: f"{bound}{table}```", text, flags=re.S)
        readme.write_text(text)

        commands = ROOT / "docs" / "cli.md"
        text = re.sub(
            r"Regret of \d+ runs.*?report:", lambda _: f"{table}report:", commands.read_text(), flags=re.S
        )
        for block in re.findall(r"```console\n(?!\$ sidelight (?:doctor|evaluate))(.*?)```", text, re.S):
            text = text.replace(block, renewed(block, Path(folder)))
        commands.write_text(text)


def renewed(block: str, folder: Path) -> str:
    """A block with what its commands print now; what `cat` shows is the file."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.M)[1:]
    found = ""
    for command, before in zip(parts[::2], parts[1::2], strict=True):
        words = command.split()
        if words[0] == "cat":
            (folder / words[1]).write_text(before)
        after = output([sys.executable, "-m", *words], folder) if words[0] == "sidelight" else before
        found += f"$ {command}\n{after}"
    return found


def output(command: list[str], folder: str | Path) -> str:
    """What a command prints, errors included."""
    settings = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        command, cwd=folder, env=settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return "".join(line for line in done.stdout.splitlines(True) if not line.startswith(NOTICE))


if __name__ == "__main__":
    main()
