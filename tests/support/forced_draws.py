"""Decisions as if a given arm had been drawn: for expectations over every draw."""


def ask_for(policy, arm):
    """`ask`, had it drawn `arm`."""
    policy.ask()
    policy._open[policy._asked].arm = arm


def decide_on(policy, arm):
    """`decide`, had it drawn `arm`; the number of the decision."""
    game = policy._game
    record = game.draw(None)
    record.arm = arm
    policy._open[game.made] = record
    game.note(record)
    return game.made
