"""Decisions as if a given arm had been drawn: for expectations over every draw."""


def ask_for(policy, arm):
    """`ask`, had it drawn `arm`."""
    policy.ask()
    policy._open[policy._asked].arm = arm
    policy._numbers.pending = arm


def decide_on(policy, arm):
    """`decide`, had it drawn `arm`; the number of the decision."""
    draw = policy._next_draw()
    draw.arm = arm
    policy._numbers.pending = arm
    policy._note_last()
    return policy._made
