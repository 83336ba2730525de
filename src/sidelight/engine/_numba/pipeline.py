"""One optimisation per entry: how Numba is kept from compiling everything again in every caller.

Left alone, Numba optimises a function together with all it calls, emits machine code for the lot, and does so again
for each caller: of 370 functions thus emitted, Python calls ten. Here a function that only kernels call is *lowered*,
to LLVM's language, and put aside. Only an entry, which Python calls, collects what it needs and runs optimiser and
emitter, once. Compiling takes a quarter of the time; the rounds are as fast as before.

    Inner   lowered and put aside
    Loop    the same, but optimised on its own first, so that it vectorises before it is copied into its callers
    Entry   linked with everything below it, optimised once, emitted

These are `pipeline_class`es, a documented option of `jit`; the code libraries that they bring are internals of Numba.
`EXPECTED` says whether they look as they did in the versions that were tested. If not, everything is compiled
in Numba's own way: slower, and right.
"""

import os
from types import FunctionType
from typing import Any

import numba
from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher, _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.environment import lookup_environment

from sidelight.engine._numba.notice import announced

_ENVIRONMENT = "_ZN08NumbaEnv"  # how names of environments begin


class _OnceOptimized(JITCodeLibrary):
    """A library whose own code is linked as it is: optimising single functions first gains nothing."""

    def add_llvm_module(self, ll_module: Any) -> None:
        # Numba would optimise here; the entry does it once for all.
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

    def below(self) -> list["InnerLibrary"]:
        """Everything inner that this library calls, directly or not, callers before those they call.

        In this order: LLVM drops what nothing linked so far refers to.
        """
        inner: dict[InnerLibrary, None] = {}

        def visit(library: Any) -> None:
            for called in library._linking_libraries:
                if isinstance(called, InnerLibrary) and called not in inner:
                    if not called.complete:
                        visit(called)
                    inner[called] = None

        visit(self)
        return list(reversed(inner))

    def link_all(self) -> None:
        """Put everything that is called into this module, other than optimised."""
        inner = self.below()
        for library in inner:
            self._final_module.link_in(library.shared(), preserve=True)
        others = [other for library in (self, *inner) for other in library._linking_libraries]
        for library in dict.fromkeys(others):
            self._reload_init.update(library._reload_init)
            if not isinstance(library, InnerLibrary):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)

    def optimize(self) -> None:
        """All passes of LLVM; no cheap ones before, which Numba needs for reference counts."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class InnerLibrary(_OnceOptimized):
    """Code that waits for an entry. It has no address, hence no environment to be set there."""

    complete = False  # does the module hold all that it calls?
    _shared = None

    def _ensure_finalized(self) -> None:
        pass

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def shared(self) -> Any:
        """The module, such that several entries may have a copy."""
        if self._shared is None:
            self._shared = self._final_module
            for function in self._shared.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "linkonce_odr"
        return self._shared

    def _get_module_for_linking(self) -> Any:
        """For a caller that Numba compiles in its own way: with everything below."""
        module = self.shared().clone()
        for library in self.below():
            module.link_in(library.shared(), preserve=True)
        return module

    @property
    def codegen(self) -> Any:
        return _NoAddresses()


class _NoAddresses:
    """In place of the code generator of an inner library, when its environment is set."""

    def set_env(self, name: str, environment: Any) -> None:
        """Later, by the entry."""


class LoopLibrary(InnerLibrary):
    """Inner code that is optimised before others copy it."""

    def shared(self) -> Any:
        if not self.complete:
            self.link_all()
            self.optimize()
            self.complete = True
        return super().shared()


class EntryLibrary(_OnceOptimized):
    """Code that Python calls."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self.link_all()
        self.optimize()
        self._final_module.verify()
        self._finalize_final_module()
        codegen: Any = self._codegen
        # Environments hold what a function needs to raise an error; inner ones had no address to be set at.
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    codegen.set_env(variable.name, environment)


class _Pipeline(Compiler):
    """Numba's passes, with a library of ours for the code they make."""

    library_class: type[_OnceOptimized]

    def compile_extra(self, func: Any) -> Any:
        self.state.library = self.library_class(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class Inner(_Pipeline):
    library_class = InnerLibrary


class Loop(_Pipeline):
    library_class = LoopLibrary


class Entry(_Pipeline):
    library_class = EntryLibrary

    def compile_extra(self, func: Any) -> Any:
        with announced():
            return super().compile_extra(func)


def one_signature(dispatcher: Any) -> None:
    """Compile an inner function once for all signed integers, whether written out, read from an array or computed."""
    fold = dispatcher._compiler.fold_argument_types

    def widened(args: Any, kws: Any) -> Any:
        signature, folded = fold(args, kws)
        return signature, tuple(_wide(numba.types.unliteral(argument)) for argument in folded)

    dispatcher._compiler.fold_argument_types = widened


def _wide(argument: Any) -> Any:
    return numba.types.int64 if argument in numba.types.signed_domain else argument


def _as_expected() -> bool:
    """Has Numba everything that is used above?"""
    used = {
        JITCodeLibrary: (
            "add_llvm_module _ensure_finalized _finalize_final_module _get_module_for_linking _raise_if_finalized "
            "codegen enable_object_caching finalize get_pointer_to_function"
        ),
        JITCPUCodegen: "_module_pass_manager set_env",
        Compiler: "compile_extra",
        _FunctionCompiler: "fold_argument_types _get_implementation",
        Dispatcher: "compile get_call_template",
    }
    # Attributes appear when a library is made: their names are in the code that makes it.
    makers = [vars(ancestor).get("__init__") for ancestor in JITCodeLibrary.__mro__]
    assigned = {name for make in makers if isinstance(make, FunctionType) for name in make.__code__.co_names}
    return all(hasattr(where, name) for where, names in used.items() for name in names.split()) and (
        {"_codegen", "_final_module", "_linking_libraries", "_reload_init"} <= assigned
    )


EXPECTED = os.environ.get("SIDELIGHT_PLAIN_NUMBA", "0") != "1" and _as_expected()
"""Are functions compiled as described above? SIDELIGHT_PLAIN_NUMBA=1 says no."""
