"""Answers that prove themselves."""


def certified(solve, graph, *arguments, **options):
    """What `solve` answers for the graph, once its certificate has been checked there."""
    answer = solve(graph, *arguments, **options)
    assert answer.verify(graph)
    return answer
