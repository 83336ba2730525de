"""Every error a user can cause, named after what is wrong.

All derive from `SidelightError`; each message shows the offending value and says what to do about it.
"""

from collections.abc import Sequence


class SidelightError(Exception):
    """Base of all errors raised on purpose."""


class InvalidGraph(SidelightError, ValueError):
    """Arms, edges or labels that do not describe a feedback graph."""


class GraphFileError(InvalidGraph):
    """A graph file that cannot be read or written as asked."""


class UnobservableGraph(SidelightError, ValueError):
    """Some arms are revealed by no arm, so no policy can have sublinear regret."""

    def __init__(self, message: str, arms: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.arms = tuple(int(arm) for arm in arms)


class IllegalPartition(SidelightError, ValueError):
    """Blocks on which the two-level algorithm cannot run; `violations` lists every reason."""

    def __init__(self, message: str, violations: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.violations = tuple(violations)


class InvalidOption(SidelightError, ValueError):
    """An argument outside what the function accepts."""


class NoHorizon(InvalidOption, AttributeError):
    """What only a plan for a known number of rounds has; to `hasattr` it is not there."""


class MissingData(InvalidOption):
    """Data that are not where they were said to be, or cannot be read there; elsewhere or later they may be."""


class InfeasibleRequest(SidelightError, ValueError):
    """A request that is well formed but cannot be met for this graph."""


class SolverError(SidelightError, RuntimeError):
    """A numerical solver stopped without a certificate."""


class TurnError(SidelightError, RuntimeError):
    """`ask` and `tell` must alternate; a decision is answered or cancelled once."""


class InvalidFeedback(SidelightError, ValueError):
    """What was told is not what the pending arm reveals, or is not a loss in [0, 1]."""


class PolicyError(SidelightError, RuntimeError):
    """A mistake in a policy of the user's own; the message names its file and line."""


class PastHorizon(UserWarning):
    """A warning: a plan is played for more rounds than it was made for."""


class DependentGraphs(UserWarning):
    """A warning: graphs that are shown after playing seem to depend on what was played, so that nothing is proved."""


class SavedStateError(SidelightError, ValueError):
    """A saved policy that is damaged, foreign, or of an unknown version."""


class SpecError(SidelightError, ValueError):
    """A sweep spec that says something impossible, unknown or twice; the message names file, key and value."""


class ResultsError(SidelightError, RuntimeError):
    """A folder of results that cannot be written, read or continued."""


class SpecChanged(ResultsError):
    """The folder holds results of another spec; the message names what differs."""


class LogError(SidelightError, ValueError):
    """A log of decisions that cannot be read, or whose rows contradict each other; names the row and the value."""


class WorkerError(SidelightError, RuntimeError):
    """Worker processes or a cluster that cannot be started, reached or trusted."""


class ServiceError(SidelightError, RuntimeError):
    """The decision service cannot be started or reached, or has refused a request with the HTTP `status`."""

    def __init__(self, message: str, status: int | None = None, code: str = "", about: object = None) -> None:
        super().__init__(message)
        self.status, self.code, self.about = status, code, about


class StoreError(ServiceError):
    """A store of the service that cannot be opened, read or written, is damaged, or belongs to another process."""


class WeightsIgnored(UserWarning):
    """A graph file gives weights to its edges; they are not read, every edge counts."""


class ColumnsIgnored(UserWarning):
    """A table has columns that are not read, such as the context of a decision."""


class PoorOverlap(UserWarning):
    """A policy is evaluated on a log that hardly ever, or never, shows what it plays."""


class IncompleteDecision(UserWarning):
    """The last decision of a log was being written when the program ended; it is left out."""


def listing(values: Sequence[object], most: int = 10) -> str:
    """Format `values` for an error message, cutting a long list and saying how much was cut."""
    shown = ", ".join(str(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown}, … ({len(values)} in all)"
