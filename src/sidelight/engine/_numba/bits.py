"""The bits of a double, and back."""

import struct

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload


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
