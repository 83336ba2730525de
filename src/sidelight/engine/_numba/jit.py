"""How kernels are compiled: one place for the flags.

* error_model="numpy": a division carries no branch, so loops with divisions vectorise.
* no reference counting (`_nrt=False`): kernels never allocate, and counting references to the dozens of arrays
  that travel through every call costs more than the work itself.

Three kinds, by who calls them:

    kernel    called from Python
    internal  called from kernels only; where it begins with `noinline()`, never copied into its callers
    inlined   called from kernels only, and copied into its caller: small things on hot paths

Only kernels get a Python wrapper; taking dozens of arrays apart is most of the code of a small function.
Left alone, LLVM copies routines that are called from few places, and compiling takes minutes.
"""

from functools import partial
from typing import Any

from numba import njit, types
from numba.core import config
from numba.extending import intrinsic

kernel = partial(njit, cache=True, error_model="numpy", _nrt=False, nogil=True)
internal = partial(kernel, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=False)
inlined = partial(internal, forceinline=True)


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
