"""Plain pointers into arrays, for the hot loops.

A Numba array is seven words, and every `array[i]` first asks whether i is negative. Inside the engine, where
dozens of arrays are read at computed places, that costs a third of the time. `pointer` turns a part of an array
into a pointer to its first cell: one word, indexed from 0, nothing asked. The array must stay an argument of
the kernel, which keeps its memory alive; like all compiled indexing here, nothing checks the upper end.

Dozens of pointers are still too many to hand from function to function. `by_reference` puts a bundle of them down in
the frame of the kernel that calls it and gives one pointer to the whole: fields are read from there when they
are used. As the compiler cannot know that writing a cell leaves the bundle alone, loops that should vectorise
take the pointers they need into variables first.

Interpreted, cells are ordinary views and a bundle refers to itself.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
)
from numba.np.arrayobj import make_array


@intrinsic
def _pointer(typingctx, array, start, stop):
    def codegen(context, builder, signature, args):
        data = make_array(signature.args[0])(context, builder, args[0]).data
        return builder.gep(data, [args[1]])

    return types.CPointer(array.dtype)(array, types.intp, types.intp), codegen


@intrinsic
def _offset(typingctx, pointer, index):
    def codegen(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.intp), codegen


class Reference(types.Type):
    """The type of a reference to a named tuple."""

    def __init__(self, to):
        self.to = to
        super().__init__(name=f"Reference({to})")


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, dmm.lookup(fe_type.to).get_value_type().as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = Reference

    def generic_resolve(self, typ, attr):  # type: ignore[override]
        return typ.to.types[typ.to.fields.index(attr)] if attr in typ.to.fields else None


@lower_getattr_generic(Reference)
def _field(context, builder, typ, value, attr):
    return builder.load(cgutils.gep_inbounds(builder, value, 0, typ.to.fields.index(attr)))


@intrinsic
def _by_reference(typingctx, bundle):
    def codegen(context, builder, signature, args):
        return cgutils.alloca_once_value(builder, args[0])

    return Reference(bundle)(bundle), codegen


@intrinsic
def _prefetch(typingctx, pointer, index):
    def codegen(context, builder, signature, args):
        cell = builder.bitcast(builder.gep(args[0], [args[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [cell.type] + 3 * [ir.IntType(32)])
        function = builder.module.declare_intrinsic("llvm.prefetch", [cell.type], kind)
        read, keep, data = (ir.Constant(ir.IntType(32), number) for number in (0, 3, 1))
        builder.call(function, [cell, read, keep, data])
        return context.get_dummy_value()

    return types.none(pointer, types.intp), codegen


def _view(array: np.ndarray, start: int, stop: int) -> np.ndarray:
    return array[start:stop]


def _rest(pointer: np.ndarray, index: int) -> np.ndarray:
    return pointer[index:]


def _itself(bundle: Any) -> Any:
    return bundle


def _nothing(pointer: np.ndarray, index: int) -> None:
    pass


pointer: Any = _view if config.DISABLE_JIT else _pointer  # type: ignore[attr-defined]
"""pointer(array, start, stop): the cells start..stop of a one-dimensional array."""
offset: Any = _rest if config.DISABLE_JIT else _offset  # type: ignore[attr-defined]
"""offset(cells, index): the cells from there on.

A loop that reads cells[first + i] and also computes with first + i gets that number as four scalars instead of a
vector; reading offset(cells, first)[i] keeps them apart.
"""
by_reference: Any = _itself if config.DISABLE_JIT else _by_reference  # type: ignore[attr-defined]
"""by_reference(bundle): a reference to a named tuple, valid as long as the calling kernel runs."""
prefetch: Any = _nothing if config.DISABLE_JIT else _prefetch  # type: ignore[attr-defined]
"""prefetch(cells, index): ask the memory for a cell that will be read soon; changes nothing."""
