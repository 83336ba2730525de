"""All that may change in a policy, to say that nothing has."""


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
        for number, record in state.records.items()
    }
    return arrays, records, state.made, state.lost, state.asked, state.warned, policy.unit
