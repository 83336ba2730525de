"""What a safe round costs at most: a table by temperature, and what rounds to come cost by it.

Row k is for β from β_0·e^{k·step} on: the price, the strength b of exploration, 1/K for arms that are lifted, and the
shift c. A round that is played so costs no more than the price, whatever was learnt; below the first row nothing is
explored and a round may cost 1. Where the rows come from: planning/signed. Planning calls these functions, and
kernels compile them. Proofs: docs/theory/self-tuning.md.
"""

from math import exp, inf, log

COST, STRENGTH, FLOOR, SHIFT, N_PRICES = range(5)
"""Columns of a row."""

NEAR = 1e-9
"""A temperature that is short of a row by rounding is at it; prices leave room for that."""


def row_at(beta: float, first: float, step: float, n_rows: int) -> int:
    """The last row for β, −1 where there is none."""
    if beta < first * (1.0 - NEAR):
        return -1
    return min(int(log(beta / first) / step + NEAR / step), n_rows - 1)


def price(prices, beta: float, first: float, step: float, n_rows: int) -> float:
    """What a safe round at β costs at most."""
    row = row_at(beta, first, step, n_rows)
    return prices[N_PRICES * row + COST] if row >= 0 else 1.0


def cost_to_go(
    prices, beta: float, rounds: float, diameter: float, first: float, step: float, n_rows: int, near: int
):
    """(value, β′): a small D(β′ − β) + rounds·price(β′), β′ ≥ β; the search begins at row `near`.

    Whatever β′, that many rounds from β cost no more: how near to the minimum it is decides only how tight. It is
    never more than staying or `near` costs, so what was affordable by either stays so.
    """
    least = row_at(beta, first, step, n_rows)
    stay = rounds * (prices[N_PRICES * least + COST] if least >= 0 else 1.0)
    row = min(max(near, least + 1), n_rows - 1)
    if row <= least:
        return stay, beta
    # Without −Dβ, which is the same for all.
    value = diameter * first * exp(step * row) + rounds * prices[N_PRICES * row + COST]
    for turn in range(2):
        move = 1 - 2 * turn
        while least < row + move < n_rows:
            other = (
                diameter * first * exp(step * (row + move)) + rounds * prices[N_PRICES * (row + move) + COST]
            )
            if not other < value:
                break
            value = other
            row += move
    value -= diameter * beta
    if stay <= value:
        return stay, beta
    return value, first * exp(step * row)


def cost_elsewhere(
    costs, climbs, beta: float, rounds: float, first: float, step: float, at: int, n_costs: int, climb_at: int,
    n_climbs: int, near: int,
):  # fmt: skip
    """(value, row): a small K(β → b) + rounds·cost(b) over the rows b of another potential, from row `near` on.

    Its rows are on the grid of the table, from number `at` on; changing from β to b costs β·climbs of their ratio.
    """
    if n_costs == 0:
        return inf, -1
    lower = (
        int(log(beta / first) / step + NEAR / step) if beta >= first else -1 - int(log(first / beta) / step)
    )
    beta_below = first * exp(step * lower)  # changing from a lower temperature costs more
    best, value = -1, inf
    row = min(max(near, 0), n_costs - 1)
    for turn in range(2):
        move = 1 - 2 * turn
        k = row
        while 0 <= k < n_costs:
            ratio = at + k - lower - climb_at
            if ratio >= n_climbs:
                if move > 0:
                    break
                k += move
                continue
            other = beta_below * climbs[max(ratio, 0)] + rounds * costs[k]
            if not other < value and k != row:
                break
            if other < value:
                value, best = other, k
            k += move
        row = best if best >= 0 else row
    return value, best
