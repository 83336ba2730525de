"""Functions compiled by our pipelines are those that Numba compiles, made with less work."""

import os
import subprocess
import sys

import numpy as np
import pytest
from kernel_entries import INTERPRETED
from numba import njit, types
from numba.core.errors import TypingError

from sidelight.engine._numba import pipeline
from sidelight.engine._numba.jit import inlined, internal, kernel, loop, noinline

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


@inlined()
def third(x, i):
    return x[i] + i


@internal()
def second(x, i):
    noinline()
    return third(x, i) + third(x, 0)


@loop(fastmath={"reassoc"})
def total(x):
    found = 0.0
    for i in range(x.size):
        found += third(x, i)
    return found


@internal()
def refused(x):
    if x[0] < 0.0:
        raise ValueError("below zero")
    return x[0]


def first(x, places):
    found = total(x) + second(x, 1)
    for i in range(places.size):
        found += second(x, places[i])
    return found + refused(x)


ours, numbas = kernel(cache=False)(first), njit(first)
PLACES = np.array([2, 1, 0], dtype=np.int32)
NUMBERS = np.array([1.0, 10.0, 100.0])


def expected():
    return (111 + 3) + (11 + 1) + (103 + 12 + 2) + 1.0


def test_an_entry_links_all_that_it_calls():
    assert ours(NUMBERS, PLACES) == expected()


def test_callers_compiled_by_numba_itself_may_call_inner_functions():
    assert numbas(NUMBERS, PLACES) == expected()


def test_inner_functions_are_compiled_once_and_have_no_code_of_their_own():
    ours(NUMBERS, PLACES)
    assert [signature[1] for signature in second.signatures] == [
        types.int64
    ]  # from a literal, and from int32
    (compiled,) = second.overloads.values()
    assert isinstance(compiled.library, pipeline.InnerLibrary)
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


def test_inner_functions_may_raise():
    for function in (ours, numbas):
        with pytest.raises(ValueError, match="below zero"):
            function(-NUMBERS, PLACES)


def test_what_cannot_be_compiled_says_so():
    @inlined()
    def inner(x):
        return x.no_such_thing

    @kernel()
    def outer(x):
        return inner(x)

    with pytest.raises(TypingError, match="no_such_thing"):
        outer(NUMBERS)


def test_a_numba_that_looks_different_is_left_alone(monkeypatch):
    assert pipeline._as_expected()
    monkeypatch.delattr(pipeline.JITCPUCodegen, "set_env")
    assert not pipeline._as_expected()


PLAYED = """
import sys
import numpy as np
from kernel_entries import Bench, coins, exponentials
from sidelight.engine._numba.pipeline import EXPECTED
bench = Bench.of((0.5, 1.3, 8))
for i in range(20):
    bench.add(0, i % 8, 0.1 + i / 7)
    bench.solve()
out, flipped = np.zeros(9), np.zeros(40)
exponentials(-np.linspace(0.0, 5.0, 9), out)
coins(np.linspace(0.0, 1.0, 64), np.uint64(12345), 7, 40, flipped)
print(bench.values().tolist(), out.tolist(), flipped.tolist())
print(EXPECTED, file=sys.stderr)
"""


@pytest.mark.full
def test_numba_s_own_pipeline_gives_the_same_numbers():
    """What happens where Numba looks different: slower to compile, and bit for bit the same."""
    printed = {}
    for plain in ("0", "1"):
        paths = os.pathsep.join(path for path in sys.path if path)
        environment = os.environ | {"SIDELIGHT_PLAIN_NUMBA": plain, "PYTHONPATH": paths}
        done = subprocess.run([sys.executable, "-c", PLAYED], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed[done.stderr.split()[-1]] = done.stdout
    assert printed["True"] == printed["False"]
