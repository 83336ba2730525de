"""How kernels are compiled: one place for the flags.

* error_model="numpy": a division carries no branch, so loops with divisions vectorise.
* no reference counting (`_nrt=False`): kernels never allocate, and counting references to the dozens of arrays
  that travel through every call costs more than the work itself.

Kinds, by who calls them:

    kernel    called from Python
    internal  called from kernels only; where it begins with `noinline()`, never copied into its callers
    inlined   called from kernels only, and copied into its caller: small things on hot paths
    compiled  the rest: functions that allocate, and those that both Python and kernels call

Only kernels get a Python wrapper; taking dozens of arrays apart is most of the code of a small function.
Left alone, LLVM copies routines that are called from few places, and compiling takes minutes.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit, types
from numba.core import config, sigutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from sidelight.engine._numba.cache import KernelCache


def compiled(**options: Any) -> Callable[[Any], Any]:
    """`njit`, with machine code kept in our own cache."""

    def decorate(function: Any) -> Any:
        dispatcher = njit(error_model="numpy", **options)(function)
        if dispatcher is not function:  # else interpreted
            dispatcher._cache = KernelCache(function)
        return dispatcher

    return decorate


kernel = partial(compiled, _nrt=False, nogil=True)
internal = partial(kernel, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=False)
inlined = partial(internal, forceinline=True)


def callback(signature: str) -> Callable[[Any], Any]:
    """A compiled function that kernels are given by its address."""

    def decorate(function: Any) -> Any:
        made: Any = CFunc(function, sigutils.normalize_signature(signature), {}, {"nopython": True})
        made._cache = KernelCache(function)
        made.compile()
        return made

    return decorate


@intrinsic
def _noinline(typingctx):
    def codegen(context, builder, signature, args):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


def _nothing() -> None:
    """Interpreted, every function is on its own."""


noinline: Any = _nothing if config.DISABLE_JIT else _noinline  # type: ignore[attr-defined]
"""Called at the beginning of a routine, keeps its code out of its callers."""
