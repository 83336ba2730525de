"""Cells that can be compared: the same graph, environment and horizon, one policy each."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.experiment.results import Cell, Results


@dataclass(frozen=True, eq=False)
class Group:
    """All cells of one graph, environment and horizon, in the order of the results."""

    graph: str
    environment: str
    horizon: int
    cells: tuple[Cell, ...]

    @property
    def title(self) -> str:
        """What the cells have in common."""
        return f"{self.graph}, {self.environment}, T = {self.horizon:,}"

    @property
    def ranked(self) -> tuple[Cell, ...]:
        """The cells from the least mean regret at the horizon to the largest."""
        return tuple(sorted(self.cells, key=lambda cell: float(cell.mean[-1])))


def groups_of(results: Results) -> tuple[Group, ...]:
    """The comparable groups, in the order in which they first appear."""
    found: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in results.cells:
        found.setdefault((cell.graph, cell.environment, cell.horizon), []).append(cell)
    return tuple(Group(*key, tuple(cells)) for key, cells in found.items())
