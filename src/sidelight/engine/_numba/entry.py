"""Calling a kernel again and again from Python, without looking up the types of its arguments each time."""

from collections.abc import Callable
from typing import Any, cast

from numba import typeof

from sidelight.engine._numba.interrupts import interrupts_kept


def entry(kernel: Any, *arguments: object) -> Callable[..., Any]:
    """The machine code of `kernel` for arguments of exactly these types: a call costs half as much.

    Nothing is checked any more: an argument of another type would be read as if it had the type given here.
    """
    if not hasattr(kernel, "overloads"):  # interpreted
        return cast(Callable[..., Any], kernel)
    types = tuple(typeof(argument) for argument in arguments)
    if types not in kernel.overloads:  # asking the compiler for what it has made takes ten times as long
        with interrupts_kept():
            kernel.compile(types)
    return cast(Callable[..., Any], kernel.overloads[types].entry_point)
