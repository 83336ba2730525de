"""How kernels are compiled: one place for the flags.

* error_model="numpy": a division carries no branch, so loops with divisions vectorise.
* no reference counting (`_nrt=False`): kernels never allocate, and counting references to the dozens of arrays
  that travel through every call costs more than the work itself.

Three kinds, by who calls them:

    kernel    called from Python
    routine   called from kernels only, compiled on its own: cold paths
    step      called from kernels only, inlined into its caller by LLVM, so that bundles of arrays never go
              through memory: hot paths

Only kernels get a Python wrapper; taking dozens of arrays apart is most of the code of a small function.
"""

from functools import partial

from numba import njit

kernel = partial(njit, cache=True, error_model="numpy", _nrt=False, nogil=True)
routine = partial(kernel, no_cpython_wrapper=True, no_cfunc_wrapper=True)
step = partial(routine, forceinline=True)
