"""How kernels are compiled: one place for the flags.

* error_model="numpy": a division carries no branch, so loops with divisions vectorise.
* no reference counting (`_nrt=False`): kernels never allocate, and counting references to the dozens of arrays
  that travel through every call costs more than the work itself.

Kinds, by who calls them:

    kernel    called from Python
    internal  called from kernels only; where it begins with `noinline()`, never copied into its callers
    inlined   called from kernels only, and copied into its caller: small things on hot paths
    loop      inlined, and optimised before it is copied: loops that are to vectorise
    compiled  called from Python, and may allocate

Only kernels and compiled functions have machine code of their own and can be called from Python (see `pipeline`).
Left alone, LLVM copies routines that are called from few places, and compiling takes minutes: hence `noinline()`.
"""

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core import config, sigutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic, register_jitable

from sidelight.engine._numba.cache import KernelCache
from sidelight.engine._numba.features import only_with
from sidelight.engine._numba.pipeline import EXPECTED, Entry, Inner, Loop, one_signature


def _jitted(
    pipeline: Any,
    kept: bool,
    options: dict[str, Any],
    needs: str = "",
    gives: Any = None,
    without: Any = None,
) -> Callable[[Any], Any]:
    """`njit`, by one of our pipelines, with machine code kept in our own cache or not at all."""
    # Where Numba looks otherwise than expected, its own pipeline compiles everything: slower, and right.
    if EXPECTED:
        options = options | {"pipeline_class": pipeline}

    def decorate(function: Any) -> Any:
        dispatcher = njit(error_model="numpy", **options)(function)
        if dispatcher is function:  # interpreted
            return function
        if kept and not function.__closure__:  # what a closure holds is not in the address
            # Numba's own cache does not see that a callee in another file has changed.
            dispatcher._cache = KernelCache(function)
        # One signature for all integers: otherwise each combination is lowered on its own.
        if EXPECTED and pipeline is not Entry:
            one_signature(dispatcher)
        if EXPECTED and needs:
            only_with(dispatcher, needs, gives if without is None else without, without is not None)
        return dispatcher

    return decorate


_PLAIN = {"_nrt": False, "nogil": True}
_WITHIN = _PLAIN | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": False}


def compiled(**options: Any) -> Callable[[Any], Any]:
    """A function that Python calls and that may allocate."""
    return _jitted(Entry, True, options)


def kernel(**options: Any) -> Callable[[Any], Any]:
    """A function that Python calls and that allocates nothing."""
    return _jitted(Entry, True, _PLAIN | options)


def internal(needs: str = "", gives: Any = None, without: Any = None, **options: Any) -> Callable[[Any], Any]:
    """A function that kernels call; with `needs`, only where the memory has that feature (see `features`)."""
    return _jitted(Inner, not EXPECTED, _WITHIN | options, needs, gives, without)


def inlined(**options: Any) -> Callable[[Any], Any]:
    """A function that is copied into the kernels that call it."""
    return internal(forceinline=True, **options)


def loop(**options: Any) -> Callable[[Any], Any]:
    """`inlined`, optimised before it is copied."""
    return _jitted(Loop, not EXPECTED, _WITHIN | {"forceinline": True} | options)


def also_compiled(*functions: Callable[..., Any]) -> None:
    """Let kernels call plain functions of numbers, which Python goes on calling as they are."""
    for function in functions:
        register_jitable(error_model="numpy")(function)


def callback(signature: str) -> Callable[[Any], Any]:
    """A compiled function that kernels are given by its address."""

    def decorate(function: Any) -> Any:
        callback_: Any = CFunc(function, sigutils.normalize_signature(signature), {}, {"nopython": True})
        callback_._cache = KernelCache(function)
        callback_.compile()
        return callback_

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
