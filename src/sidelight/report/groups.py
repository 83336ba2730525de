"""Cells that belong in one picture: comparable at one horizon, or the same game at several."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.experiment.results import Cell, Results

LEAST_HORIZONS = 3


@dataclass(frozen=True, eq=False)
class Group:
    """All cells of one graph, environment and horizon, in the order of the results."""

    graph: str
    environment: str
    horizon: int
    cells: tuple[Cell, ...]
    policies: tuple[str, ...]  # of all results: a policy looks the same in every figure

    @property
    def title(self) -> str:
        """What the cells have in common."""
        return f"{self.graph}, {self.environment}, T = {self.horizon:,}"

    @property
    def ranked(self) -> tuple[Cell, ...]:
        """The cells from the least mean regret at the horizon to the largest."""
        return tuple(sorted(self.cells, key=lambda cell: float(cell.mean[-1])))


@dataclass(frozen=True, eq=False)
class Scaling:
    """Cells of one graph and environment at three horizons or more, by policy, shortest first."""

    graph: str
    environment: str
    cells: dict[str, tuple[Cell, ...]]
    policies: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the cells have in common."""
        return f"{self.graph}, {self.environment}"


def groups_of(results: Results) -> tuple[Group, ...]:
    """The comparable groups, in the order in which they first appear."""
    found: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in results.cells:
        found.setdefault((cell.graph, cell.environment, cell.horizon), []).append(cell)
    return tuple(Group(*key, tuple(cells), _policies(results)) for key, cells in found.items())


def scalings_of(results: Results) -> tuple[Scaling, ...]:
    """What can be drawn against the horizon, in the order of the results."""
    found: dict[tuple[str, str], dict[str, dict[int, Cell]]] = {}
    for cell in results.cells:
        by_policy = found.setdefault((cell.graph, cell.environment), {})
        by_policy.setdefault(cell.policy, {})[cell.horizon] = cell
    scalings = []
    for key, policies in found.items():
        long = {
            policy: tuple(cells[horizon] for horizon in sorted(cells))
            for policy, cells in policies.items()
            if len(cells) >= LEAST_HORIZONS
        }
        if long:
            scalings.append(Scaling(*key, long, _policies(results)))
    return tuple(scalings)


def _policies(results: Results) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cell.policy for cell in results.cells))
