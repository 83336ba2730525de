"""What axe-core finds in a page."""

AXE = """async (part) => {
  const found = await axe.run(part, { resultTypes: ["violations"] });
  const shown = (nodes) => nodes.slice(0, 3).map((node) => node.html.slice(0, 160));
  return found.violations.map(({ id, impact, nodes }) => [impact, id, shown(nodes)]);
}"""


def serious(visit, axe, part="html"):
    """What is serious or worse."""
    visit.page.evaluate(axe)
    return [found for found in visit.page.evaluate(AXE, part) if found[0] in ("serious", "critical")]
