"""All that may change in a policy, to say that nothing has."""


def looked(policy, record):
    """A record with the probabilities that are computed when somebody looks: when that was is no part of a state."""
    return record if record.look is None else policy._game.noted(record)


def snapshot(policy):
    """All that may change, bit for bit."""
    state = policy._state()
    arrays = {name: (array.dtype.str, array.tobytes()) for name, array in state.arrays.items()}
    records = {
        number: (
            record.arm,
            record.version == state.version,
            None if record.values is None else record.values.tobytes(),
            repr(record.probability),
            None if record.graph is None else record.graph.content,
        )
        for number, record in ((at, looked(policy, record)) for at, record in state.records.items())
    }
    return arrays, records, state.made, state.lost, state.asked, state.warned, policy.unit
