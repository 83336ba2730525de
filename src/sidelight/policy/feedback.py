"""What a play revealed, checked and brought into order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sidelight._types import Floats, Ints
from sidelight.errors import InvalidFeedback, listing
from sidelight.graph import FeedbackGraph


def aligned(graph: FeedbackGraph, degree: int, arm: int, losses: object) -> Floats:
    """One float for each of the `degree` arms that `arm` reveals, of any size, or an error naming what is wrong."""
    if isinstance(losses, Mapping):
        return _from_mapping(arm, graph.out_neighbors(arm), losses)
    if type(losses) is np.ndarray and losses.dtype == np.float64 and losses.flags.carray:
        values = losses
    else:
        values = _as_floats(losses, graph.out_neighbors(arm))
    if values.shape != (degree,):
        revealed = graph.out_neighbors(arm)
        raise InvalidFeedback(
            f"arm {arm} reveals {revealed.size} arms ({listing(revealed.tolist())}), "
            f"got losses of shape {values.shape}; align them with graph.out_neighbors({arm})"
        )
    return values


def in_range(values: Floats) -> bool:
    """Are all of them in [0, 1]?"""
    return bool(((values >= 0.0) & (values <= 1.0)).all())


def out_of_range(graph: FeedbackGraph, arm: int, values: Floats) -> InvalidFeedback:
    """The error for the first of `values` that is not in [0, 1]."""
    at = int(np.argmin((values >= 0.0) & (values <= 1.0)))
    return InvalidFeedback(
        f"the loss of arm {graph.out_neighbors(arm)[at]} must be in [0, 1], got {values[at]}; "
        "rescale losses before telling them"
    )


def _from_mapping(arm: int, revealed: Ints, losses: Mapping[int, float]) -> Floats:
    expected = revealed.tolist()
    missing = [v for v in expected if v not in losses]  # indexing a defaultdict would invent a loss
    if missing:
        raise InvalidFeedback(
            f"arm {arm} also reveals {listing(missing)}, for which no loss was told; "
            "tell every out-neighbour of the pending arm"
        )
    if len(losses) != len(expected):
        extra = [v for v in losses if v not in set(expected)]
        raise InvalidFeedback(
            f"playing arm {arm} does not reveal {listing(extra)}; it reveals {listing(expected) or 'nothing'}"
        )
    return _as_floats([losses[v] for v in expected], revealed)


def _as_floats(losses: object, revealed: Ints) -> Floats:
    if np.ma.is_masked(losses):
        raise InvalidFeedback("some losses are masked; tell a loss for every arm that was revealed")
    try:
        values = np.asarray(losses)
        if values.size and values.dtype.kind not in "biuf":
            raise TypeError(f"{values.dtype} values")
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        if isinstance(losses, list | tuple) and len(losses) == revealed.size:
            for arm, loss in zip(revealed.tolist(), losses, strict=True):
                if not isinstance(loss, float | int | np.floating | np.integer | np.bool_):
                    raise InvalidFeedback(
                        f"the loss of arm {arm} must be a number in [0, 1], got {loss!r}"
                    ) from None
        raise InvalidFeedback(f"losses must be numbers in [0, 1], got {losses!r} ({error})") from None
