"""Plain pointers into arrays, for the hot loops.

A Numba array is seven words, and every `array[i]` first asks whether i is negative. Inside the engine, where
dozens of arrays are read at computed places, that costs a third of the time. `pointer` turns a part of an array
into a pointer to its first cell: one word, indexed from 0, nothing asked. The array must stay an argument of
the kernel, which keeps its memory alive; nothing checks an index.

Interpreted, cells are ordinary views, which do. `bundles` hands many pointers around at once.
"""

import struct
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array


@intrinsic
def _pointer(typingctx, array, start, stop):
    def codegen(context, builder, signature, args):
        return builder.gep(make_array(array)(context, builder, args[0]).data, [args[1]])

    return types.CPointer(array.dtype)(array, types.intp, types.intp), codegen


@intrinsic
def _offset(typingctx, pointer, index):
    def codegen(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.intp), codegen


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


def _nothing(pointer: np.ndarray, index: int) -> None:
    pass


pointer: Any = _view if config.DISABLE_JIT else _pointer  # type: ignore[attr-defined]
"""pointer(array, start, stop): the cells start..stop of a one-dimensional array."""
offset: Any = _rest if config.DISABLE_JIT else _offset  # type: ignore[attr-defined]
"""offset(cells, index): the cells from there on.

A loop that reads cells[first + i] and also computes with first + i gets that number as four scalars instead of a
vector; reading offset(cells, first)[i] keeps them apart.
"""
prefetch: Any = _nothing if config.DISABLE_JIT else _prefetch  # type: ignore[attr-defined]
"""prefetch(cells, index): ask the memory for a cell that will be read soon; changes nothing."""


def float_bits(x):
    """The 64 bits of a double as an int64."""
    return struct.unpack("<q", struct.pack("<d", x))[0]


def bits_float(bits):
    """The double with these 64 bits."""
    return struct.unpack("<d", struct.pack("<q", ((int(bits) + 2**63) % 2**64) - 2**63))[0]


@intrinsic
def _float_bits(typingctx, x):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _bits_float(typingctx, bits):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@overload(float_bits, inline="always")
def _overload_float_bits(x):
    return lambda x: _float_bits(x)  # type: ignore[call-arg]


@overload(bits_float, inline="always")
def _overload_bits_float(bits):
    return lambda bits: _bits_float(bits)  # type: ignore[call-arg]
