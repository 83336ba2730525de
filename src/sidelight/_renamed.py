"""Arguments that were called otherwise: taken for one more version, with a warning that says what to write."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that takes old=… for new=…, for each old="new" given here.

    >>> @renamed(s="order")
    ... def planned(order=0.5):
    ...     return order
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     planned(s=1.0)
    1.0
    >>> print(told[0].message)
    planned(s=…) is planned(order=…) now; the old spelling goes with the next version
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> R:
            for old in names.keys() & options.keys():
                name, new = function.__name__, names[old]
                message = (
                    f"{name}({old}=…) is {name}({new}=…) now; the old spelling goes with the next version"
                )
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                if new in options:
                    raise TypeError(f"{name}() got both {old}= and {new}=, which are the same")
                options[new] = options.pop(old)
            return function(*args, **options)

        return call

    return wrap
