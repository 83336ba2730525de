"""Twins of the realizations that the paper does not have: interpolated, flat, flat beside strong arms.

From the plan the twin takes the free parameters (h, β, rates), and covers x* of its own; everything that follows from
them is computed by `naive`. `hand_plan` goes the other way: a plan whose tuning is a twin's parameters, for values of
h that no planner would choose on a small graph.
"""

from __future__ import annotations

import dataclasses

import naive
import numpy as np

import sidelight as sl
from sidelight.analysis import block_dominations, fractional_domination, observability
from sidelight.planning import Tuning
from sidelight.planning.covers import loads
from sidelight.planning.exploration import Cover
from sidelight.planning.minimised.flat import FlatCandidate


def instance_of(plan):
    A = np.zeros((plan.graph.n_arms, plan.graph.n_arms), dtype=bool)
    for i in range(plan.graph.n_arms):
        A[i, plan.graph.out_neighbors(i)] = True
    return naive.Instance(A, plan.partition.blocks)


def weights_of(plan):
    """An optimal cover of each weak block."""
    p = plan.partition
    found = block_dominations(plan.graph, [p.blocks[k] for k in p.weak])
    return {int(k): d.weights for k, d in zip(p.weak, found, strict=True)}


def interpolated_twin(plan):
    p, numbers = plan.partition, plan.parameters
    top = [naive.Tsallis(1.0)] * p.n_blocks
    for at, k in enumerate(p.weak):
        top[k] = naive.Tsallis(numbers["eta_top"][at] if p.n_blocks > 1 else 1.0)
    for k in p.strong_loop:
        top[k] = naive.Tsallis(numbers.get("eta_loop", 1.0))
    for k in p.strong_loopless:
        top[k] = naive.Entropy(numbers["eta_loopless"])
    h = dict(zip(p.weak.tolist(), numbers["h_blocks"], strict=True))
    instance = instance_of(plan)
    parameters = naive.interpolated_parameters(
        instance, plan.horizon, weights_of(plan), h, numbers.get("b", 0.0), numbers["alpha"], top,
        numbers.get("extra", 0.0),
    )  # fmt: skip
    return instance, parameters


def spreading(plan, h, top_rate):
    """(plan, instance, parameters): Tsallis-h in every weak block, a quarter of the time explored as it says.

    Small graphs do not choose that themselves; `top_rate` is a function of the block.
    """
    instance, weights = instance_of(plan), weights_of(plan)
    shares = [naive.diameter(h, len(instance.blocks[k])) * weights[k].sum() ** h for k in instance.U2]
    top = [
        naive.Entropy(0.05) if k in instance.U1N else naive.Tsallis(top_rate(k)) for k in range(instance.m)
    ]
    parameters = naive.interpolated_parameters(
        instance, plan.horizon, weights, dict.fromkeys(instance.U2, h), 0.25 / sum(shares) if shares else 0.0,
        0.1, top, 0.1 if instance.U1N else 0.0,
    )  # fmt: skip
    return hand_plan(plan, instance, parameters), instance, parameters


def potential_twin(plan):
    """One simplex and estimates with a shift: a cover of the arms that are explored for, the others are lifted."""
    numbers, instance, n = plan.parameters, instance_of(plan), plan.graph.n_arms
    owed = np.full(n, "h" in numbers)
    if numbers["cover"] == "loop-less arms":
        owed = ~plan.graph.has_loop
    h, s = numbers.get("h", 1.0), numbers.get("s", 1.0)
    rates = np.where(owed, numbers.get("temperature", 1.0), numbers.get("temperature_loops", 1.0)) ** -1.0
    potentials = [
        naive.Entropy(rate) if order == 1 else naive.Power(order, rate, line=True)
        for order, rate in zip(np.where(owed, h, s).tolist(), rates.tolist(), strict=True)
    ]
    constant, spread, cover = np.zeros(n), {}, np.zeros(n)
    if owed.any():
        found = fractional_domination(plan.graph, cover=np.flatnonzero(owed))
        cover[found.arms] = found.weights
        spread = {0: naive.Spread(numbers["b"], h, cover, owed)}
    if h == 1 and spread:
        constant, spread = numbers["b"] * spread[0].shape(instance, 0, np.full(n, 1 / n)), {}
    parameters = naive.Parameters(
        0.0, None, None, None, constant, np.zeros(n), np.full(n, -1), arm_potential=potentials, spread=spread,
        lifted=np.flatnonzero(~owed) if "K" in numbers else (),
        floor=1 / (numbers["temperature_loops"] * numbers["K"]) if "K" in numbers else 0.0, c=numbers["c"],
    )  # fmt: skip
    return instance, parameters


def explored_evenly(plan, parameters):
    """Both with constant exploration in the place of one that varies."""
    even, n, tuning = (
        np.full(plan.graph.n_arms, 0.1 / plan.graph.n_arms),
        np.zeros(plan.graph.n_arms),
        plan.tuning,
    )
    parameters = dataclasses.replace(parameters, gamma_constant=even, spread={}, lifted=())
    none = {"spread": np.zeros(tuning.n_blocks), "cover": n, "load": n, "lifted": n, "floor": 0.0}
    return dataclasses.replace(
        plan, tuning=dataclasses.replace(tuning, global_exploration=even, **none)
    ), parameters


def flat_ways(g):
    """What may be owed exploration on one simplex: all arms without self-loop, or the weak ones alone."""
    loopless, weak = np.flatnonzero(~g.has_loop), observability(g).weak
    if 0 < loopless.size < g.n_arms:
        yield "covered", loopless
    if 0 < weak.size < loopless.size:
        yield "shifted", weak


def flat_plan(g, horizon, name, owed):
    """The flat plan that leaves the arms outside `owed` to potentials of their own."""
    cover = Cover.of(fractional_domination(g, cover=owed), g.n_arms)
    shifted = np.setdiff1d(np.flatnonzero(~g.has_loop), owed)
    way = FlatCandidate(sl.partitions.single(g), cover, shifted)
    assert way.name == name
    return way.plan(horizon)


def flat_twin(plan, owed):
    g, numbers = plan.graph, plan.parameters
    found = fractional_domination(g, cover=owed)
    cover, is_owed = np.zeros(g.n_arms), np.zeros(g.n_arms, dtype=bool)
    cover[found.arms], is_owed[owed] = found.weights, True
    free = [numbers.get(name, 0.0) for name in ("h", "beta", "eta", "eta_loop", "eta_loopless", "extra")]
    instance = instance_of(plan)
    return instance, naive.flat_parameters(instance, cover, is_owed, *free)


# -- from a twin to a plan ---------------------------------------------------------------------------------


def kernel_form(potential):
    """(power, rate)."""
    if isinstance(potential, naive.Entropy):
        return 0.0, potential.rate
    if isinstance(potential, naive.Tsallis):
        return 2.0, 2 * potential.rate
    return 1 / (1 - potential.h), (1 - potential.h) * potential.rate


def potential_of(power, rate, line=False):
    """The inverse of `kernel_form`."""
    return naive.Entropy(rate) if power == 0 else naive.Power(1 - 1 / power, rate * power, line)


def hand_plan(plan, instance, parameters):
    """`plan` with the tuning replaced by a twin's parameters; its bound no longer means anything."""
    n, m = instance.n, instance.m
    top = [kernel_form(psi) for psi in parameters.top_potential or [naive.Tsallis(1.0)] * m]
    inner = [kernel_form(psi) for psi in parameters.arm_potential]
    for k in (*instance.U1S, *instance.U1N):
        inner[instance.blocks[k][0]] = (0.0, 0.0)
    spread, cover, load = np.zeros(m), np.zeros(n), np.zeros(n)
    for k, s in parameters.spread.items():
        V = instance.blocks[k]
        spread[k], cover[V] = s.beta, s.cover
        load[V] = np.where(s.owed, 1.0, 0.0)
    load *= loads(plan.graph, plan.partition.block_of, cover)
    tuning = Tuning(
        block_start=np.concatenate([[0], np.cumsum([len(V) for V in instance.blocks])]),
        block_arms=np.concatenate(instance.blocks),
        top_power=np.array(top)[:, 0],
        top_rate=np.array(top)[:, 1],
        inner_power=np.array(inner)[:, 0],
        inner_rate=np.array(inner)[:, 1],
        global_exploration=parameters.gamma_constant,
        local_exploration=parameters.gamma_local,
        adaptive=np.zeros(m),
        parent=np.full(n, -1),
        spread=spread,
        cover=cover,
        load=load,
    )
    return dataclasses.replace(plan, tuning=tuning)
