"""How kernels are compiled: one place for the flags.

* error_model="numpy": a division carries no branch, so loops with divisions vectorise.
* no reference counting (`_nrt=False`): kernels never allocate, and counting references to the dozens of arrays
  that travel through every call costs more than the work itself.
* `step` functions are inlined into their caller by LLVM, so bundles of arrays never go through memory;
  `kernel` functions are compiled on their own (entry points, and cold paths called from many places).
"""

from functools import partial

from numba import njit

kernel = partial(njit, cache=True, error_model="numpy", _nrt=False, nogil=True)
step = partial(kernel, forceinline=True)
