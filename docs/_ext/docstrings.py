"""Docstrings are written as Markdown, so that they read well in a terminal; Sphinx wants reStructuredText.

What our docstrings use is translated: code in backticks, emphasis, indented blocks, tables, lists and the sections of
Google's style, `Args:` and `Returns:`. All else that reStructuredText would take for markup is escaped: X_k, x*, |S|.
"""

from __future__ import annotations

import re
from typing import Any

CODE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=\S)([^*]+?)(?<=\S)\1(?![\w*])")
SECTION = re.compile(r"^(Args|Returns|Raises|Yields):$")
TITLES = {"Args:": "**Arguments**"}


def restructured(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText."""
    found: list[str] = []
    for block, section in blocks(lines):
        if section:
            found += [TITLES.get(block[0], f"**{block[0][:-1]}**"), "", *entries(block[1:])]
        elif block[0].startswith(">>>"):
            found += block
        elif block[0].startswith("|"):
            found += table(block)
        elif block[0].startswith("    "):
            found += [".. code-block:: text", "", *("   " + line[1:] for line in block)]
        else:
            found += [inline(line) for line in block]
        found.append("")
    return found


def blocks(lines: list[str]) -> list[tuple[list[str], bool]]:
    """What empty lines divide, and whether it is a section; an indented block takes its empty lines along."""
    found: list[tuple[list[str], bool]] = []
    current: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            starts = line.startswith(">>>") and current and not current[0].startswith(">>>")
            if current and (starts or bool(SECTION.match(line))):
                found.append((current, bool(SECTION.match(current[0]))))
                current = []
            current.append(line.rstrip())
        elif current:
            found.append((current, bool(SECTION.match(current[0]))))
            current = []
    return found


def entries(lines: list[str]) -> list[str]:
    """A section: names with what they mean as a list of definitions, or text."""
    found: list[str] = []
    for line in lines:
        name = re.match(r"    (\w[\w, *]*): (.*)", line)
        if name:
            names = ", ".join(f"``{each.strip()}``" for each in name[1].split(","))
            found += [names, f"    {inline(name[2])}"]
        else:
            found.append(f"    {inline(line.strip())}")
    return found


def inline(line: str) -> str:
    """A line of text: code and emphasis as they are, what only looks like markup escaped."""
    found, at = "", 0
    line = LINK.sub(r"\1", line)
    for match in CODE.finditer(line):
        found += escaped(line[at : match.start()]) + f"``{match[2]}``"
        at = match.end()
        if line[at : at + 1].isalnum():
            found += "\\ "
    return found + escaped(line[at:])


def escaped(text: str) -> str:
    """Text without code."""
    bullet = re.match(r"\s*[*-] (?=\S)", text)
    lead = bullet[0] if bullet else ""
    found, at = "", len(lead)
    for match in EMPHASIS.finditer(text, at):
        found += plain(text[at : match.start()]) + match[1] + plain(match[2]) + match[1]
        at = match.end()
    return lead + found + plain(text[at:])


def plain(text: str) -> str:
    """Text without any markup."""
    return re.sub(r"([\\*_|`])", r"\\\1", text)


def table(block: list[str]) -> list[str]:
    """A table of pipes; a row whose first cell is empty continues the one above."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block]
    head, *body = [row for row in rows if not re.fullmatch(r":?-+:?", row[0])]
    merged: list[list[str]] = []
    for row in body:
        if row[0] or not merged:
            merged.append(row)
        else:
            merged[-1] = [f"{above} {below}".strip() for above, below in zip(merged[-1], row, strict=True)]
    found = [".. list-table::", "   :header-rows: 1", ""]
    for row in [head, *merged]:
        for at, cell in enumerate(row):
            found.append(f"   {'* - ' if at == 0 else '  - '}{inline(cell)}")
    return found


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """The event of autodoc."""
    lines[:] = restructured(lines)


def shortened(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """The event of autodoc for signatures: aliases of types inside of others, by their names."""
    return _unaliased(signature), _unaliased(returned)


def _unaliased(text: str | None) -> str | None:
    return text and re.sub(r"TypeAliasForwardRef\('([^']+)'\)", r"\1", text)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", shortened)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
