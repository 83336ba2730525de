"""Only what a plan uses: functions of a feature that the memory has not are left out of what is compiled.

The type of a memory, and so of its bundles, carries a set of features. A function decorated with `needs="buckets"` is
compiled for bundles that have buckets; for others a few instructions stand in its place, which raise. They are never
reached: kernels call such a function only after asking a switch, and the set follows from the same switches
(`fields.features_of`). A function that says what it is `without` the feature stands for that constant instead, and is
called without asking. As the set is part of the types, it is part of the address in the cache.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic


class Missing(AssertionError):
    """A kernel went where the switches of its memory should not have let it."""


def only_with(dispatcher: Any, feature: str, gives: Any, quietly: bool) -> None:
    """Compile a function only where the feature is; elsewhere what raises, and is typed as if it gave `gives`.

    If `quietly`, it gives that: for functions that are called without asking a switch, and cost nothing then.
    """
    compiler = dispatcher._compiler
    real, stand_in = compiler._get_implementation, _stand_in(compiler.py_func, feature, gives, quietly)

    def implementation(arguments: Any, keywords: Any) -> Any:
        # What is no bundle says itself what it has, while it runs.
        sets = [kind.features for kind in arguments if hasattr(kind, "features")]
        return real(arguments, keywords) if not sets or feature in sets[0] else stand_in

    compiler._get_implementation = implementation


@intrinsic
def _always(typingctx):
    """True, which nobody knows before the optimiser: the compiler types what comes after a condition on it."""

    def codegen(context, builder, signature, args):
        return context.get_constant(types.boolean, True)

    return types.boolean(), codegen


def _stand_in(function: Any, feature: str, gives: Any, quietly: bool) -> Any:
    """A function of the same arguments; written out, because the compiler reads its bytecode."""
    code = function.__code__
    arguments = ", ".join(code.co_varnames[: code.co_argcount])
    text = f"{function.__name__} was called, but this memory has no {feature}"
    refusal = "" if quietly else f"    if _always():\n        raise Missing({text!r})\n"
    source = f"def {function.__name__}({arguments}):\n{refusal}    return {gives!r}\n"
    namespace = {"Missing": Missing, "_always": _always, "__name__": function.__module__}
    exec(source, namespace)
    return namespace[function.__name__]
