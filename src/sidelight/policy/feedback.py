"""What a play revealed, checked and brought into order and onto the scale of losses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sidelight._types import Floats
from sidelight.engine.constants import FAILED
from sidelight.errors import InvalidFeedback
from sidelight.graph import FeedbackGraph
from sidelight.graph.names import named, names
from sidelight.log.unit import Unit

FLOAT64 = np.dtype(np.float64)


def aligned(graph: FeedbackGraph, degree: int, arm: int, losses: object) -> Floats:
    """One float for each of the `degree` arms that `arm` reveals, of any size, or an error naming what is wrong.

    NaN stands for a reveal that failed, and only where that can be.
    """
    if type(losses) is np.ndarray and losses.dtype is FLOAT64 and losses.flags.carray:  # the usual case
        values = losses
    elif isinstance(losses, Mapping):
        return _from_mapping(graph, arm, losses)
    elif hasattr(losses, "to_dict") and hasattr(losses, "index"):  # a pandas Series says which arms it means
        return _from_mapping(graph, arm, _from_series(graph, losses))
    else:
        if not graph.certain and isinstance(losses, list | tuple):
            losses = [np.nan if loss is None else loss for loss in losses]
        values = _as_floats(graph, losses, arm)
    if values.shape != (degree,):
        revealed = graph.out_neighbors(arm)
        raise InvalidFeedback(
            f"arm {named(graph, arm)} reveals {revealed.size} arms ({names(graph, revealed)}), "
            f"got losses of shape {values.shape}; align them with graph.out_neighbors({arm})"
        )
    if not graph.certain:
        lost = np.isnan(values) & (graph.reveal_probabilities(arm) == 1)
        if lost.any():
            raise _not_told(graph, arm, graph.out_neighbors(arm)[lost].tolist())
    return values


def told_of(graph: FeedbackGraph, unit: Unit, arm: int, losses: object) -> Floats:
    """What `arm` revealed as it was told, in the order of `graph.out_neighbors(arm)`; refuses what a policy would."""
    given = aligned(graph, int(graph.out_degree[arm]), arm, losses)
    values = given if unit == Unit() else as_losses(unit, given)
    if not in_range(graph, marked(graph, values)):
        raise out_of_range(graph, arm, unit, given)
    return given


def marked(graph: FeedbackGraph, values: Floats) -> Floats:
    """Losses as games take them: NaN, for a reveal that failed, is `FAILED`, and nothing else is."""
    if graph.certain:
        return values
    return np.where(np.isnan(values), FAILED, np.where(values == FAILED, np.inf, values))


ADVICE = (
    "cancel the decision, or plan on a graph whose edge has a probability (from_edges(…, probabilities=…))"
)
"""What to do where a reveal failed that should not."""


def in_range(graph: FeedbackGraph, values: Floats) -> bool:
    """Are all of them in [0, 1], but for reveals that failed?"""
    fine = (values >= 0.0) & (values <= 1.0)
    return bool((fine if graph.certain else fine | (values == FAILED)).all())


def as_losses(unit: Unit, values: Floats) -> Floats:
    """Values of a unit as losses, in [0, 1] exactly where they are in its range."""
    inside = (values >= unit.low) & (values <= unit.high)
    scaled = unit.to_unit_interval(values)
    within = np.clip(1.0 - scaled if unit.kind == "rewards" else scaled, 0.0, 1.0)
    return np.where(inside, within, np.where(np.isnan(values), np.nan, np.inf))


def out_of_range(graph: FeedbackGraph, arm: int, unit: Unit, values: Floats) -> InvalidFeedback:
    """The error for the first of `values` that is not in the range of the unit."""
    fine = (values >= unit.low) & (values <= unit.high)
    at = int(np.argmin(fine if graph.certain else fine | np.isnan(values)))
    advice = "rescale losses before telling them, or say plan.policy(losses=(low, high))"
    if np.isnan(values[at]):
        advice = f"if the reveal failed, {ADVICE}"
    elif unit != Unit():
        advice = f"the policy was made for {unit.kind}=({unit.low:g}, {unit.high:g})"
    return InvalidFeedback(
        f"the {unit.column} of arm {named(graph, int(graph.out_neighbors(arm)[at]))} must be in "
        f"[{unit.low:g}, {unit.high:g}], got {values[at]}; {advice}"
    )


def _from_series(graph: FeedbackGraph, losses: Any) -> dict[int | str, float]:
    by_arm: dict[int | str, float] = losses.to_dict()
    if len(by_arm) < len(losses):
        raise InvalidFeedback(f"some arms are told of twice: the index is {names(graph, list(losses.index))}")
    return by_arm


def _from_mapping(graph: FeedbackGraph, arm: int, losses: Mapping[int | str, float]) -> Floats:
    expected = graph.out_neighbors(arm).tolist()
    by_arm = losses
    if graph.labels is not None and any(isinstance(key, str) for key in losses):
        by_arm = {}
        for key, value in losses.items():
            number = _arm_of(graph, key)
            if number in by_arm:
                raise InvalidFeedback(f"the loss of arm {named(graph, number)} was told twice")
            by_arm[number] = value
    if graph.certain and type(by_arm) is dict and len(by_arm) == len(expected):  # the usual case
        try:
            return _as_floats(graph, [by_arm[v] for v in expected], arm)
        except KeyError:
            pass
    missing = {v for v in expected if v not in by_arm}  # indexing a defaultdict would invent a loss
    if not graph.certain:  # None and NaN stand for a reveal that failed
        missing |= {v for v in expected if v in by_arm and _is_nothing(by_arm[v])}
    sure = [v for v in sorted(missing) if graph.certain or graph.probability(arm, v) == 1]
    extra = [v for v in by_arm if v not in set(expected)]
    if sure:
        raise _not_told(graph, arm, sure, extra)
    if extra:
        raise InvalidFeedback(
            f"playing arm {named(graph, arm)} does not reveal {names(graph, extra)}; "
            f"it reveals {names(graph, expected) or 'nothing'}"
        )
    return _as_floats(graph, [np.nan if v in missing else by_arm[v] for v in expected], arm)


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _not_told(
    graph: FeedbackGraph, arm: int, missing: list[int], extra: list[int | str] | None = None
) -> InvalidFeedback:
    unknown = f" (it does not reveal {names(graph, extra)})" if extra else ""
    return InvalidFeedback(
        f"arm {named(graph, arm)} also reveals {names(graph, missing)}, which never fails, and no loss was told"
        f"{unknown}; tell every arm that it reveals; if a reveal failed, {ADVICE}"
    )


def _arm_of(graph: FeedbackGraph, key: int | str) -> int | str:
    """The arm with this label; anything else as it is."""
    labels = graph.labels or ()
    return labels.index(key) if isinstance(key, str) and key in labels else key


def _as_floats(graph: FeedbackGraph, losses: object, arm: int) -> Floats:
    if type(losses) is list and set(map(type, losses)) <= {float}:  # as from most mappings
        return np.array(losses, dtype=np.float64)
    if np.ma.is_masked(losses):
        raise InvalidFeedback("some losses are masked; tell a loss for every arm that was revealed")
    try:
        values = np.asarray(losses)
        if values.size and values.dtype.kind not in "biuf":
            raise TypeError(f"{values.dtype} values")
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        revealed = graph.out_neighbors(arm).tolist()
        if isinstance(losses, list | tuple) and len(losses) == len(revealed):
            for each, loss in zip(revealed, losses, strict=True):
                if not isinstance(loss, float | int | np.floating | np.integer | np.bool_):
                    advice = f"; if the reveal failed, {ADVICE}" if loss is None else ""
                    raise InvalidFeedback(
                        f"what is told of arm {named(graph, each)} must be a number, got {loss!r}{advice}"
                    ) from None
        raise InvalidFeedback(
            f"tell a number for every arm that was revealed, got {losses!r} ({error})"
        ) from None
