"""Self-tuning as the engine plays it, lazily: dense and with nothing but NumPy.

β and how to explore change only at events; in between a round is charged from its own draw. Formulas are those of
`self_tuning_twin`, prices those of the rule's table; docs/theory/self-tuning.md, section 6, has the rule.
"""

import numpy as np
import signed_twin
from self_tuning_twin import Ways, entropy, money, point, terms
from tuned_plans import adjacency

from sidelight.engine.constants import GROWTH, LARGEST_LIST, ROOM, SLACK
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.choose import HEIGHT, LAG
from sidelight.engine.self_tuning.retune import NEARLY, NEARLY_STRONG


class LazyTwin:
    """One game: `Z` is what is played, `learn` takes the drawn arm and all losses (only revealed ones are read).

    Reveals that failed are NaN. A choice holds for `pause` rounds at least, and just after it `margin` times what the
    formula says is explored.
    """

    def __init__(self, graph, tuning, pause=None, margin=1.0):
        self.tuning, self.rule, self.margin = tuning, tuning.self_tuning, margin
        self.A, self.lifted, n, rule = adjacency(graph), tuning.lifted, graph.n_arms, tuning.self_tuning
        listed = n <= LARGEST_LIST and graph.certain  # such graphs are played along edges
        edges = np.count_nonzero(self.A) if listed else graph.out_indices.size
        self.pause = max(16, (n + edges) // (8 if n <= 1000 else 2)) if pause is None else pause
        self.L, self.t, self.shifts, self.events = np.zeros(n), 0, 0.0, 0
        self.laid_out = np.argsort(tuning.load == 0, kind="stable")  # of arms that are alike the first leads
        start = {"beta": rule.first, "target_beta": rule.first, "slack": ROOM}
        start = rule.beginning if rule.horizon else start
        self.beta, self.target, self.allowance = (start[key] for key in ("beta", "target_beta", "slack"))
        self.base_row, self.fallen, self.fallen_at = start.get("base_row", 0), None, 0
        self.chosen, self.free, self.leader = self.beta, rule.first, 0
        self.purchased, self.charged, self.unspent = self.beta * rule.diameter, 0.0, 0.0
        self.limit = rule.patience * rule.first * rule.diameter
        self.safe, self.low, self.high, self.check, self.most_explored = True, -1.0, 2.0, 1, 0.75
        self.play_safely()
        self.reference, self.most = (1 + SLACK) * self.price, ROOM
        if rule.horizon:
            self.reference, self.most = start["target_cost"], 1e99
        self._move()

    @property
    def cert(self):
        return self.purchased + self.charged

    @property
    def least_beta(self):
        """Without a horizon β is at least this, up to patience."""
        return self.rule.first + self.rule.share * self.charged / self.rule.diameter

    # -- a round ------------------------------------------------------------------------------------------

    def _move(self):
        self.X = self.point()
        self.gamma = self.exploration()
        self.Z = (1 - self.gamma.sum()) * self.X + self.gamma

    def point(self):
        """X at the present temperatures."""
        if self.fallen is None:
            return point(self.L, self.beta, self.rule.order)
        return signed_twin.point(self.L - self.L.min(), *self.temperatures)

    def exploration(self):
        """γ: b·g, what arms are lifted by, and what is kept on the leader."""
        orders = self.rule.order if self.fallen is None else self.temperatures[0]
        with np.errstate(under="ignore"):
            root = self.X ** (1 - orders)
        gamma = self.b * self.direction(root, self.scale)
        gamma += self.lifted * np.maximum(self.floor * root - self.X, 0.0)
        gamma[self.leader] += self.kept
        return gamma

    def direction(self, root, scale):
        """g: exploration of strength 1, that for the leader's sake scaled; at order 1 it is constant."""
        tuning = self.tuning
        if not tuning.load.any():
            return tuning.global_exploration / self.unit
        owed = np.divide(root, tuning.load, out=np.zeros_like(root), where=tuning.load > 0)
        owed[self.leader] *= scale
        h = 1 - 1 / tuning.inner_power[tuning.load > 0][0]
        gain = np.where(self.A > 0, self.A, 1.0) ** (1 / h - 1) * (self.A > 0)
        return self.margin * tuning.cover * (gain * owed).max(axis=1)

    @property
    def unit(self):
        """The strength at which the tuning explores."""
        return self.rule.first_strength if self.fallen is None else self.b or 1.0

    def charge_of(self, arm, Z):
        """ĉ of a round drawn from Z, with the least B̄."""
        if self.priced:
            return self.price
        return min(self.costs(Z)[arm] / Z[arm], 1.0)

    def costs(self, Z):
        """(N,) what a round costs at most that is played by Z, arm by arm."""
        return terms(self.A, self.X, Z, self.beta, self.rule.order, self.leader, self.c, self.above)

    @property
    def known(self):
        """Does every play reveal every arm, under the entropy? Then stability is known once losses are."""
        return self.rule.order == 1 and bool((self.A == 1).all())

    def stability(self, losses):
        """⟨ℓ, X⟩ + F(L, β) − F(L + ℓ, β)."""
        return float(self.X @ losses + self.beta * np.log(self.X @ np.exp(-losses / self.beta)))

    def learn(self, arm, losses, Z=None, charge=None, c=None, explored=None):
        """Charge the round, take in its losses, and apply the rule if that is due.

        Z, its charge and shift may be given, of a draw of before or where the engine plays within a factor, and how
        much is explored afterwards.
        """
        Z, c = self.Z if Z is None else Z, self.c if c is None else c
        if self.known and self.fallen is None:
            charge = self.stability(losses)
        charge = self.charge_of(arm, Z) if charge is None else charge
        self.charged += charge
        self.unspent += self.rule.play_share * charge
        self.allowance = min(self.allowance + self.reference - charge, self.most)
        seen = (self.A[arm] > 0) & ~np.isnan(losses)
        self.L[seen] += (losses[seen] - c) / (self.A.T @ Z)[seen]
        self.t, self.shifts = self.t + 1, self.shifts + c
        self._move()
        self.full = (self.gamma.sum() if explored is None else explored) > self.most_explored
        if self.fallen is None and (
            self.full
            or self.unspent > self.limit
            or self.t >= self.check
            or (not self.safe and self.allowance < 1)
            or (not self.rule.horizon and self.least_beta > (1 + self.rule.patience) * self.free)
            or not self.low <= self.X[self.leader] <= self.high
        ):
            self.event()
            self._move()

    # -- an event -----------------------------------------------------------------------------------------

    def event(self):
        """Buy, hold or guard, choose."""
        self.events += 1
        rule, s, L = self.rule, self.rule.order, self.L
        was_safe, before, worth = self.safe, self.beta, money(self.L, self.beta, self.rule.order)
        self._buy()
        left = rule.horizon - self.t
        if left != 0:  # nothing is bought after the last round
            self.beta = self._hold(worth, left) if left > 0 else self.free
        self.purchased += money(L, self.beta, s) - worth
        if left <= 0:
            self._guard()
        if self.fallen is not None:
            self._fall()
            return
        self.X = self.point()
        moved = (
            self.t >= self.check
            or not self.low <= self.X[self.leader] <= self.high
            or not 1 / 1.2 <= self.beta / self.chosen <= 1.2
            or self.full
            or (self.c > 0 and self.beta < self.chosen)
        )
        if self.safe:
            self._follow()
            self.low, self.high = -1.0, 2.0
            self.play_safely()
        elif was_safe or moved:
            self._choose()
        elif self.beta != before and self.priced:
            self.play_safely()
        else:
            self.floor *= before / self.beta

    def _buy(self):
        rule, s, L = self.rule, self.rule.order, self.L
        at = entropy(point(L, self.free, s), s)
        if self.unspent > rule.patience * self.free * at:
            worth = money(L, self.free, s)
            after = min(2 * self.free, rule.first * (self.t + 1) ** 2)
            if self.unspent < (after - self.free) * at:
                after = self.free + self.unspent / at
            paid = money(L, after, s) - worth
            while paid > 1.05 * self.unspent:
                after -= (paid - self.unspent) / entropy(point(L, after, s), s)
                paid = money(L, after, s) - worth
            if paid > self.unspent:
                after = self.free + (after - self.free) * self.unspent / paid
                paid = money(L, after, s) - worth
            self.free = after
            self.unspent = max(self.unspent - max(paid, 0.0), 0.0)
        if not rule.horizon and self.least_beta > self.free:
            paid = money(L, self.least_beta, s) - money(L, self.free, s)
            self.free = self.least_beta
            self.unspent = max(self.unspent - max(paid, 0.0), 0.0)
        self.limit = rule.patience * self.free * entropy(point(L, self.free, s), s)

    def _go(self, beta, left):
        """(value, target β) of the rounds left with the present potential."""
        table = self.rule.table
        grid = table.first, table.step, len(table.rows)
        near = prices.row_at(self.target, *grid)
        return prices.cost_to_go(table.rows.ravel(), beta, left, self.rule.diameter, *grid, near)

    def _elsewhere(self, beta, left):
        """(value, row) with the potential behind the budget."""
        base, table = self.rule.base_table, self.rule.table
        if base is None:
            return np.inf, -1
        sizes = base.at, base.costs.size, base.climb_at, base.climbs.size
        given = table.first, table.step, *sizes, self.base_row
        return prices.cost_elsewhere(base.costs, base.climbs, beta, left, *given)

    def _hold(self, worth, left):
        rule, s, L = self.rule, self.rule.order, self.L
        budget, target = rule.budget - (self.cert - worth), self._go(self.beta, left)[1]
        near, far, fit = self.free, target, None
        for turn in range(9):
            trial = near if turn == 0 else np.sqrt(near * far)
            (own, aim), (other, row) = self._go(trial, left), self._elsewhere(trial, left)
            if money(L, trial, s) + min(own, other) + 2 <= budget:
                price = rule.round_cost(aim) if own <= other else rule.base_table.costs[row]
                self.base_row = row if other < own else self.base_row
                fit, far = (trial, min(own, other), aim, price), trial
                if turn == 0:
                    break
            else:
                near = trial
        price = rule.round_cost(target)
        beta, value, self.target, self.reference = fit or (target, left * price, target, price)
        if fit is None:
            other, row = self._elsewhere(self.beta, left)
            if worth + other <= budget:
                beta, self.fallen = self.beta, row
        self.allowance = budget - money(L, beta, s) - value
        self.safe = fit is None and self.allowance < (3 if self.safe else 1)
        return beta

    def _fall(self):
        """Go on with the potential behind the budget, at its price."""
        rule, row = self.rule, self.fallen
        self.tuning = self.tuning.with_base(row)
        self.temperatures, self.lifted = self.tuning.temperatures, self.tuning.lifted
        self.purchased += signed_twin.money(self.L - self.L.min(), *self.temperatures)
        self.purchased -= money(self.L, self.beta, rule.order)
        self.b, self.floor, self.c = rule.base_table.recipe(row)
        self.scale, self.kept, self.above, self.fallen_at = 1.0, 0.0, False, self.t
        self.priced, self.price = True, float(rule.base_table.costs[row])

    def _guard(self):
        rule = self.rule
        if rule.horizon:
            self.allowance, self.reference, self.safe = max(self.allowance, 1.0), 1.0, False
            return
        self.most = ROOM + GROWTH * self.charged
        self.reference = (1 + SLACK) * rule.round_cost(self.beta)
        if self.allowance < 1:
            self.safe = True
        elif self.allowance >= self.most / 2:
            self.safe = False

    def _follow(self):
        self.leader = int(self.laid_out[self.X[self.laid_out].argmax()])
        self.scale, self.kept, self.above = 1.0, 0.0, False
        self.chosen, self.most_explored = self.beta, 0.75
        self.check = self.t + np.ceil(max(self.pause, 0.1 * self.t))
        rest = max(np.delete(self.X, self.leader).sum(), 1e-9)
        self.low, self.high = 1 - 1.2 * rest, 1 - rest / 1.2 if rest > 1.2e-9 else 2.0

    def play_safely(self):
        """As the table says."""
        self.priced, self.scale, self.kept, self.above = True, 1.0, 0.0, False
        self.price, self.b, lift, self.c = (float(each) for each in self.rule.table.row(self.beta))
        self.floor = lift / self.beta

    def _choose(self):
        self._follow()
        self.priced = False
        if self.known:  # nothing to explore for
            self.b = self.floor = self.c = 0.0
            return
        rule, X, s, n = self.rule, self.X, self.rule.order, self.X.size
        means = np.clip((self.L + self.shifts) / max(self.t, 1), 0.0, 1.0)
        height = HEIGHT / (1 - s) if self.lifted.any() else 0.0
        g, lag = lambda scale: self.direction(X ** (1 - s), scale), LAG if n > 1000 else 1.0
        own = self.A, X, self.beta, s, self.leader, g
        owed = self.tuning.load > 0
        covered = owed.all() or (bool(rule.signed) and not owed.any())
        ways = Ways(*own, self.lifted, bool(rule.signed), height, covered, means, lag)
        ways.add_families(keeps=s < 1)
        best = self._preferred(ways)
        ways.add_shifts(best)
        best = self._preferred(ways)
        if rule.round_cost(self.beta) < best.most * (1 - 1e-9):
            self.play_safely()
            return
        self.b, self.scale, self.kept, self.floor, self.c, self.above, self.most_explored = best[:7]

    def _preferred(self, ways):
        """Nearly the cheapest, with its shift, that is likely best."""
        best = ways.cheapest()
        least = most = best.most
        nearly = NEARLY_STRONG if self.rule.strong < np.inf else NEARLY
        if self.beta <= self.free:
            most = max(least, min(nearly * least, self.rule.round_cost(self.beta)))
        for way in ways.tried:
            alike = (way.c, way.above) == (best.c, best.above)
            if alike and way.most <= most and way.likely < best.likely - 1e-9 * least:
                best = way
        return best
