"""Players as a user would write them, right and wrong."""

import numpy as np


class Learner:
    """Plays what has lost least so far, and explores."""

    def __init__(self, graph, horizon, seed):
        self.graph, self.random = graph, np.random.default_rng(seed)
        self.sums, self.seen = np.zeros(graph.n_arms), np.zeros(graph.n_arms)

    def ask(self):
        if not self.seen.all() or self.random.random() < 0.1:
            return int(self.random.integers(self.graph.n_arms))
        return int(np.argmin(self.sums / self.seen))

    def tell(self, losses):
        for arm, loss in losses.items():
            self.sums[arm] += loss
            self.seen[arm] += 1


class WithArrays(Learner):
    """The same, told as an array."""

    def ask(self):
        self.arm = super().ask()
        return self.arm

    def tell(self, losses):
        arms = self.graph.out_neighbors(self.arm)
        self.sums[arms] += losses
        self.seen[arms] += 1


class Decides(Learner):
    """The same by decisions and observations; ask and tell are hidden."""

    def __init__(self, graph, horizon, seed):
        super().__init__(graph, horizon, seed)
        self.ask = self.tell = None

    def decide(self):
        return Learner.ask(self)

    def observe(self, decision, losses):
        assert 0 <= decision < self.graph.n_arms
        Learner.tell(self, losses)


class Breaks(Learner):
    """Goes wrong after a while."""

    def tell(self, losses):
        super().tell(losses)
        if self.seen.sum() > 50:
            raise ZeroDivisionError("it was bound to happen")


class Deep(Learner):
    """Goes wrong inside a library."""

    def tell(self, losses):
        np.linalg.inv(np.zeros((2, 2)))  # a line of this file


class WrongArm(Learner):
    def ask(self):
        return self.graph.n_arms


class NoArm(Learner):
    def ask(self):
        return None


class CannotBeMade:
    def __init__(self, graph, horizon, seed):
        raise KeyError("nothing")


class PlaysNothing:
    def __init__(self, graph, horizon, seed): ...


class Leaves(Learner):
    """Ends the process, as it thinks."""

    def ask(self):
        raise SystemExit(3)


class NoTurns:
    """Neither a constructor nor turns."""


class TurnsFromConstructor:
    """Turns that only its objects have."""

    def __init__(self, graph):
        self.ask, self.tell = (lambda: 0), (lambda losses: None)


class Constant:
    """Wants to know nothing."""

    def ask(self):
        return 0

    def tell(self, losses): ...


class Global(Learner):
    def ask(self):
        return int(np.random.randint(self.graph.n_arms))  # noqa: NPY002


class Shared(Learner):
    """All players learn together."""

    rounds = 0

    def ask(self):
        Shared.rounds += 1
        return Shared.rounds % self.graph.n_arms
