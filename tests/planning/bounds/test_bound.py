import json

import pytest

from sidelight.errors import InvalidOption
from sidelight.planning.bounds.bound import Bound, Condition, bound_at, first


def example(horizon=1000):
    """3·T^{2/3} + √T, valid from T = 64: informative where 3·T^{2/3} + √T < T."""
    return bound_at(
        horizon,
        "an example",
        lambda T: {"main": 3 * T ** (2 / 3), "rest": T**0.5},
        lambda T: (Condition("8/√T ≤ 1", 8 / T**0.5, 1.0), Condition("1/T ≤ 1", 1 / T, 1.0)),
    )


def test_value_is_the_sum_of_the_terms():
    bound = example()
    assert bound.value == sum(bound.terms.values())
    assert bound.value == pytest.approx(3 * 100 + 1000**0.5)


def test_thresholds_are_the_first_horizons():
    bound = example()
    assert bound.valid_from == 64
    at = bound.informative_from
    assert 3 * at ** (2 / 3) + at**0.5 < at
    assert not 3 * (at - 1) ** (2 / 3) + (at - 1) ** 0.5 < at - 1


@pytest.mark.parametrize("horizon", [1, 63, 64, 65, 10**6])
def test_certified_exactly_from_valid_from(horizon):
    bound = example(horizon)
    assert bound.certified == (horizon >= 64)
    assert bound.certified == (bound.failing == ())
    assert bound.informative == (horizon >= bound.informative_from)


def test_condition():
    held, failed = Condition("a", 0.25, 1.0), Condition("b", 2.0, 1.0)
    assert (held.slack, held.holds) == (0.75, True)
    assert (failed.slack, failed.holds) == (-1.0, False)
    assert "holds" in str(held)
    assert "FAILS" in str(failed)


def test_condition_forgives_rounding_only():
    assert Condition("rounded", 0.1 + 0.2, 0.3).holds
    assert not Condition("missed", 0.3 * (1 + 1e-11), 0.3).holds


def test_round_trip_through_json():
    bound = example(50)
    again = Bound.from_dict(json.loads(json.dumps(bound.to_dict(), allow_nan=False)))
    assert again.to_dict() == bound.to_dict()
    assert again.terms == bound.terms
    assert again.conditions == bound.conditions


@pytest.mark.parametrize("broken", [{}, {"value": 1.0}, {"terms": None}])
def test_not_a_saved_bound(broken):
    with pytest.raises(InvalidOption, match="saved bound"):
        Bound.from_dict(broken)


@pytest.mark.parametrize("change", [{"value": 1.0}, {"certified": False}])
def test_a_bound_cannot_contradict_itself(change):
    with pytest.raises(InvalidOption):
        Bound.from_dict({**example().to_dict(), **change})


def test_summary_shows_everything():
    text = str(example(50))
    for part in ("main", "rest", "NOT certified", "valid from T = 64", "8/√T ≤ 1", "FAILS", "an example"):
        assert part in text


@pytest.mark.parametrize("least", [1, 2, 3, 4, 7, 320, 1081, 10**15 + 3])
def test_first(least):
    assert first(lambda T: least <= T) == least
