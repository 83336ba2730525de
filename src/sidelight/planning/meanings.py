"""The numbers of a plan and the kinds of its blocks in words, for whoever reads a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidelight.partition import Partition

MEANINGS = {
    "s": "order of the entropy",
    "c": "share of each round's cost that is spent on a higher temperature",
    "beta_1": "least temperature, which keeps the distribution of play wide",
    "start": "temperature of the first round",
    "delta": "weight of the cover",
    "strong": "what a round costs at most, times about the temperature",
    "alpha": "local exploration of each block",
    "beta": "strength of the global exploration",
    "b": "strength of the global exploration",
    "h": "power of the potential",
    "q": "power of the potential",
    "eta": "rate of the potential",
    "eta_loop": "rate of single arms with a self-loop",
    "eta_loopless": "rate of single arms without a self-loop",
    "extra": "exploration for arms without a self-loop",
    "gamma_bar": "largest probability of exploring",
    "rho": "1/(1 − gamma_bar)",
    "exploration_scale": "factor of all exploration, below 1 where it would not fit",
    "closed_form": "bound in closed form, which the numerical minimum must not exceed",
}
"""What each parameter is; names that are not here are the paper's, and stand alone."""


def numbers_of(parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(name, value, meaning) of the plain numbers among a plan's parameters.

    >>> numbers_of({"s": 0.5, "cover": "all arms"})
    [('s', '0.5', 'order of the entropy')]
    """
    return [
        (name, f"{value:.4g}", MEANINGS.get(name, ""))
        for name, value in parameters.items()
        if isinstance(value, float)
    ]


def blocks_of(partition: Partition) -> str:
    """How many blocks there are of which kind."""
    if partition.n_blocks == 1:
        arms = partition.graph.n_arms
        return "one block of a single arm" if arms == 1 else f"one block of all {arms:,} arms"
    kinds = {
        "of several arms": partition.weak,
        "of one arm with a self-loop": partition.strong_loop,
        "of one arm without a self-loop": partition.strong_loopless,
    }
    told = ", ".join(f"{each.size:,} {kind}" for kind, each in kinds.items() if each.size)
    return f"{partition.n_blocks:,} blocks: {told}"
