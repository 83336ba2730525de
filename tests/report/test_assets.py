"""Style and scripts: whole, ours or with their licence, and in the colours of the figures."""

import re

import pytest

from sidelight.report import template
from sidelight.report.style import COLOURS, PARTS


def test_colours_are_those_of_the_figures():
    light = template.asset("page.css").split("@media")[0]
    for letter, colours in (("c", COLOURS), ("p", PARTS)):
        found = re.findall(rf"--{letter}(\d): (#\w{{6}})", light)
        assert [colour for _, colour in sorted(found)] == list(colours)


def test_dark_has_a_value_for_every_colour():
    light, dark = template.asset("page.css").split("@media (prefers-color-scheme: dark)")[:2]
    names = set(re.findall(r"(--[\w]+):", light))
    assert names - {"--colour"} == set(re.findall(r"(--[\w]+):", dark.split("* {")[0]))


@pytest.mark.parametrize("name", template.SCRIPTS)
def test_scripts_can_stand_in_a_page(name):
    text = template.asset(name)
    assert "</script" not in text.lower()
    assert "\r" not in text
    if name != "uplot.js":
        for word in ("eval(", "innerHTML", "insertAdjacentHTML", "document.write", "new Function", "fetch("):
            assert word not in text


def test_what_is_not_ours_has_its_licence():
    assert "v1.6.32" in template.asset("uplot.js")[:100]
    assert "MIT License" in template.asset("uplot.LICENSE")
    assert "Leon Sorokin" in template.asset("uplot.LICENSE")


def test_links_are_escaped():
    head, scripts = template.linked('"><b>')
    assert "<b>" not in head + scripts
