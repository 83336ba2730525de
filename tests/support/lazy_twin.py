"""Self-tuning as the engine plays it, lazily: dense and with nothing but NumPy.

β and the strength of exploration change only at events; in between a round is charged from its own draw. Formulas are
those of `self_tuning_twin`; docs/theory/self-tuning.md, section 6, has the rule.
"""

from dataclasses import dataclass, field

import numpy as np
from self_tuning_twin import coefficients, entropy, money, point, terms

from sidelight.engine.constants import GROWTH, ROOM, SLACK
from sidelight.engine.self_tuning import prices
from sidelight.engine.self_tuning.retune import LIKELY, NEARLY, NEARLY_STRONG


@dataclass
class LazyTwin:
    """One game: `Z` is what is played, `learn` takes the drawn arm and all losses (only revealed ones are read).

    A reveal that failed has the loss 0 there.
    """

    A: np.ndarray  # (N, N) A[j, i]: how likely playing j reveals i
    cover: np.ndarray  # (N,) x*
    load: np.ndarray  # (N,) c, 0 where nothing is owed
    rule: object  # a `SelfTuning`
    pause: float  # rounds between two choices, at least
    margin: float = 1.0  # how much more is explored just after an event than the formula says
    events: int = field(default=0, init=False)

    def __post_init__(self):
        rule, n = self.rule, len(self.A)
        self.L, self.t = np.zeros(n), 0
        self.beta = rule.first
        if rule.horizon:
            self.beta = rule.cost_to_go(rule.first, rule.horizon)[1]
        self.target = self.chosen = self.beta
        self.free, self.leader, self.scale, self.kept = rule.first, 0, 1.0, 0.0
        self.purchased, self.charged, self.unspent = self.beta * rule.diameter, 0.0, 0.0
        self.limit = rule.patience * rule.first * rule.diameter
        self.safe, self.price = True, rule.round_cost(self.beta)
        self.b, self.low, self.high, self.check = rule.safe_strength(self.beta), -1.0, 2.0, 1
        self.allowance = self.most = ROOM
        self.reference = (1 + SLACK) * self.price
        if rule.horizon:
            self.allowance = max(rule.budget - self.purchased - rule.horizon * self.price, 0.0)
            self.reference, self.most = self.price, 1e99
        self._move()

    @property
    def cert(self):
        return self.purchased + self.charged

    @property
    def floor(self):
        """Without a horizon β is at least this, up to patience."""
        return self.rule.first + self.rule.share * self.charged / self.rule.diameter

    def _move(self):
        self.X = point(self.L, self.beta, self.rule.order)
        gamma = self.b * self.direction(self.X, self.scale)
        gamma[self.leader] += self.kept
        self.Z = (1 - gamma.sum()) * self.X + gamma

    def direction(self, X, scale):
        """g: exploration of strength 1, that for the leader's sake scaled."""
        due = np.where(
            self.load > 0, X ** (1 - self.rule.order) / np.where(self.load > 0, self.load, 1.0), 0.0
        )
        due[self.leader] *= scale
        s = self.rule.order
        gain = np.where(self.A > 0, self.A ** ((1 - s) / s), 0.0)
        return self.margin * self.cover * (gain * due[None, :]).max(axis=1)

    def charge_of(self, arm, Z):
        """ĉ of a round drawn from Z, with the least B̄."""
        costs = terms(self.A, self.X, Z, self.beta, self.rule.order, self.leader)
        return self.price if self.safe else min(costs[arm] / Z[arm], 1.0)

    @property
    def known(self):
        """Does every play reveal every arm, under the entropy? Then stability is known once losses are."""
        return self.rule.order == 1 and bool((self.A == 1).all())

    def stability(self, losses):
        """⟨ℓ, X⟩ + F(L, β) − F(L + ℓ, β)."""
        return float(self.X @ losses + self.beta * np.log(self.X @ np.exp(-losses / self.beta)))

    def learn(self, arm, losses, Z=None, charge=None):
        """Charge the round, take in its losses, and apply the rule if that is due.

        Z and its charge may be given, where the engine plays within a factor of the formula.
        """
        Z = self.Z if Z is None else Z
        if self.known:
            charge = self.stability(losses)
        charge = self.charge_of(arm, Z) if charge is None else charge
        self.charged += charge
        self.unspent += self.rule.play_share * charge
        self.allowance = min(self.allowance + self.reference - charge, self.most)
        seen = self.A[arm] > 0
        self.L[seen] += losses[seen] / (self.A.T @ Z)[seen]
        self.t += 1
        self._move()
        if (
            self.unspent > self.limit
            or self.t >= self.check
            or (not self.safe and self.allowance < 1)
            or (not self.rule.horizon and self.floor > (1 + self.rule.patience) * self.free)
            or not self.low <= self.X[self.leader] <= self.high
            or 1 - (self.Z[self.leader] - self._gamma()[self.leader]) / self.X[self.leader] > 0.75
        ):
            self.event()
            self._move()

    def _gamma(self):
        gamma = self.b * self.direction(self.X, self.scale)
        gamma[self.leader] += self.kept
        return gamma

    def event(self):
        """Buy, hold or guard, choose."""
        self.events += 1
        rule, s, L = self.rule, self.rule.order, self.L
        was_safe = self.safe
        explored = self._gamma().sum()
        worth = money(L, self.beta, s)
        self._buy()
        left = rule.horizon - self.t
        if left != 0:  # nothing is bought after the last round
            self.beta = self._hold(worth, left) if left > 0 else self.free
        self.purchased += money(L, self.beta, s) - worth
        if left <= 0:
            self._guard()
        self.X = point(L, self.beta, s)
        moved = (
            self.t >= self.check
            or not self.low <= self.X[self.leader] <= self.high
            or not 1 / 1.2 <= self.beta / self.chosen <= 1.2
            or explored > 0.75
        )
        if self.safe:
            self.price = rule.round_cost(self.beta)
            self._follow()
            self.low, self.high = -1.0, 2.0
            self.b = rule.safe_strength(self.beta)
        elif was_safe or moved:
            self._choose()

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
        if not rule.horizon and self.floor > self.free:
            paid = money(L, self.floor, s) - money(L, self.free, s)
            self.free = self.floor
            self.unspent = max(self.unspent - max(paid, 0.0), 0.0)
        self.limit = rule.patience * self.free * entropy(point(L, self.free, s), s)

    def _go(self, beta, left):
        rule = self.rule
        return prices.cost_to_go(beta, left, rule.diameter, *rule.costs, self.target)

    def _hold(self, worth, left):
        rule, s, L = self.rule, self.rule.order, self.L
        budget = rule.budget - (self.cert - worth)
        target = self._go(self.beta, left)[1]
        near, far, fit = self.free, target, None
        for turn in range(9):
            trial = near if turn == 0 else np.sqrt(near * far)
            value, aim = self._go(trial, left)
            if money(L, trial, s) + value + 2 <= budget:
                fit, far = (trial, value, aim), trial
                if turn == 0:
                    break
            else:
                near = trial
        beta, value, aim = fit or (target, left * rule.round_cost(target), target)
        self.allowance = budget - money(L, beta, s) - value
        self.safe = fit is None and self.allowance < (3 if self.safe else 1)
        self.target, self.reference = aim, rule.round_cost(aim)
        return beta

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
        self.leader, self.scale, self.kept, self.chosen = int(self.X.argmax()), 1.0, 0.0, self.beta
        self.check = self.t + np.ceil(max(self.pause, 0.1 * self.t))
        rest = max(np.delete(self.X, self.leader).sum(), 1e-9)
        self.low, self.high = 1 - 1.2 * rest, 1 - rest / 1.2 if rest > 1.2e-9 else 2.0

    def _choose(self):
        self._follow()
        if self.known:  # nothing to explore for
            self.b = 0.0
            return
        X, s, beta, leader = self.X, self.rule.order, self.beta, self.leader
        rest = np.delete(X, leader).sum()
        tried = [(self.costs_of(X, 0.0, np.zeros_like(X), 0.0), 0.0, 1.0, 0.0)]
        scales = [1.0] + ([(rest / X[leader]) ** (1 - s)] if rest < 0.5 else [])
        for family, scale in enumerate(scales):
            g = self.direction(X, scale)
            G = g.sum()
            if G == 0:
                continue
            top = (2 * beta * G) ** -0.5
            if family == 1:
                top = max(rest**0.5 * top, max(1, 2 - 2 * s) / beta)
            first = len(tried)
            for k in range(9):
                b = min(top * 2 ** ((2 - k) / 2), 1 / (2 * G))
                tried.append((self.costs_of(X, b, g, 0.0), b, scale, 0.0))
            nearest = cheapest(tried[first:])[1]
            for k in range(6 if s < 1 and rest > 0 else 0):
                b = min(nearest * 2 ** ((k // 2 - 1) / 2), 1 / (2 * G))
                share = min(0.5 - b * G, (1 + k % 2) / 2 * b * G / rest)
                if share > 0:
                    kept = share * X[leader]
                    tried.append((self.costs_of(X, b, g, kept), b, scale, kept))
        best = cheapest(tried)
        least = best[0][0]
        held = self.beta > self.free
        nearly = NEARLY_STRONG if self.rule.strong < np.inf else NEARLY
        most = least if held else max(least, min(nearly * least, self.rule.round_cost(beta)))
        for candidate in tried:
            cost, actual = candidate[0]
            if cost <= most and actual < best[0][1] - 1e-9 * least:
                best = candidate
        _, self.b, self.scale, self.kept = best

    def costs_of(self, X, b, g, kept):
        """What a round costs that explores b·g, and the leader `kept` more: at most, and likely."""
        Z = (1 - b * g.sum() - kept) * X + b * g
        Z[self.leader] += kept
        each = coefficients(self.A, X, Z, self.beta, self.rule.order, self.leader)
        means = np.clip(self.L / max(self.t, 1), 0.0, 1.0)
        likely = LIKELY if self.rule.strong < np.inf else 1.0
        return np.maximum(each, 0.0).sum(), float(means @ (likely * (each - (Z - X)) + (Z - X)))


def cheapest(tried):
    """The first of those that none undercuts clearly, by cost at most."""
    best = tried[0]
    for candidate in tried[1:]:
        if candidate[0][0] < best[0][0] * (1 - 1e-9):
            best = candidate
    return best
