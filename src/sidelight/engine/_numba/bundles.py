"""Bundles and records: dozens of pointers and numbers, handed from function to function as one, and read by name.

`opener` makes a function that lays the fields of a memory down in the frame of the kernel that calls it, bundle by
bundle, and gives one pointer to each: fields are read from there when they are used. As the compiler cannot know
that writing a cell leaves the bundle alone, loops that should vectorise take what they need into variables first.
Type names are short: they are part of every name that the compiler makes.

Fields are pointers, plain numbers that never change, and *scalars*: cells of one of the arrays, which kernels read
and write by name, as in `state.beta += paid`. A *record* is a few numbers in a row, wherever they are, by name.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
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
    lower_setattr_generic,
    models,
    register_model,
)
from numba.np.arrayobj import make_array
from numba.np.numpy_support import from_dtype


class Named(types.Type):
    """The type of a reference to something whose parts have names."""

    types: Mapping[str, Any]  # of the parts
    writable: Collection[str]

    def cell(self, builder: Any, value: Any, name: str) -> Any:
        """The address of a part."""
        raise NotImplementedError


class Bundle(Named):
    """Named pointers (to a dtype), plain int64 numbers, and scalars in some of the former.

    scalars[name] = (field, index): the name of that cell of the field.
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, tuple[Any, bool]],
        scalars: Mapping[str, tuple[str, int]],
        features: Collection[str] = (),
    ) -> None:
        self.features = frozenset(features)
        self.scalars = self.writable = dict(scalars)
        self.numbers = {field: at for at, field in enumerate(fields)}
        held: dict[str, Any] = {
            field: types.int64 if plain else types.CPointer(from_dtype(np.dtype(dtype)))
            for field, (dtype, plain) in fields.items()
        }
        self.types = held | {name: held[field].dtype for name, (field, _) in scalars.items()}
        super().__init__(name="_".join((name, *sorted(features))))

    def cell(self, builder: Any, value: Any, name: str) -> Any:
        if name not in self.scalars:
            return cgutils.gep_inbounds(builder, value, 0, self.numbers[name])
        field, index = self.scalars[name]
        # As `field[index]` would be compiled: a name costs no more than an index.
        return cgutils.gep_inbounds(builder, builder.load(self.cell(builder, value, field)), index)


class Record(Named):
    """So many doubles in a row, each with a name or several."""

    def __init__(self, name: str, fields: Sequence[str]) -> None:
        self.places = self.writable = places_of(fields)
        self.types = dict.fromkeys(self.places, types.float64)
        super().__init__(name=f"record_{name}")

    def cell(self, builder: Any, value: Any, name: str) -> Any:
        return cgutils.gep_inbounds(builder, value, self.places[name])


@register_model(Bundle)
class _BundleModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        cells = [dmm.lookup(fe_type.types[field]).get_value_type() for field in fe_type.numbers]
        super().__init__(dmm, fe_type, ir.LiteralStructType(cells).as_pointer())


@register_model(Record)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.DoubleType().as_pointer())


@infer_getattr
class _Parts(AttributeTemplate):
    key = Named

    def generic_resolve(self, typ, attr):  # type: ignore[override]
        return typ.types.get(attr)


@lower_getattr_generic(Named)
def _get(context, builder, typ, value, attr):
    return builder.load(typ.cell(builder, value, attr))


@lower_setattr_generic(Named)
def _set(context, builder, signature, args, attr):
    typ = signature.args[0]
    # A pointer that were replaced would still lead to the old cells in every caller.
    if attr not in typ.writable:
        raise NotImplementedError(f"kernels do not replace {attr}, a field of {typ}")
    builder.store(args[1], typ.cell(builder, args[0], attr))


def places_of(fields: Sequence[str]) -> dict[str, int]:
    """Of every name its place; names of the same cell are separated by blanks."""
    return {name: index for index, names in enumerate(fields) for name in names.split()}


def written_through(scalars: Mapping[str, tuple[str, int]]) -> type[SimpleNamespace]:
    """Interpreted: a namespace of fields whose scalars are read from, and written to, the arrays that hold them."""

    def cell(field: str, index: int) -> property:
        def read(self: Any) -> Any:
            return getattr(self, field)[index]

        def write(self: Any, value: Any) -> None:
            getattr(self, field)[index] = value

        return property(read, write)

    return type("Named", (SimpleNamespace,), {name: cell(*at) for name, at in scalars.items()})


def by_name(fields: Sequence[str], cells: Any) -> Any:
    """For Python: the cells of an array by name, read and written."""
    return _named(tuple(fields))(cells=cells)


@cache
def _named(fields: tuple[str, ...]) -> type[SimpleNamespace]:
    return written_through({name: ("cells", index) for name, index in places_of(fields).items()})


def record_of(name: str, fields: Sequence[str]) -> Any:
    """A function from cells, or an array, and a place to the record that begins there: numbers by name.

    No two kinds of records have one name, by which the compiler knows their types.
    """
    kind = Record(name, fields)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return lambda cells, at: by_name(fields, cells[at : at + len(fields)])

    @intrinsic
    def record(typingctx, cells, at):
        def codegen(context, builder, signature, args):
            data = args[0]
            if isinstance(cells, types.Array):
                data = make_array(cells)(context, builder, data).data
            # Only an address: names are offsets that are known when a kernel is compiled.
            return builder.gep(data, [args[1]])

        return kind(cells, types.intp), codegen

    return record


def opener(
    bundles_of: Callable[[frozenset[str]], Sequence[Bundle]],
    sources: Mapping[str, tuple[str, int, bool]],
    interpreted: Callable[[Any], Any],
) -> Any:
    """A function from a memory, a named tuple of arrays whose class has `features`, to its bundles with these.

    sources[field] = (array, number, plain): a plain field is a cell of that array; others are pointers into it, to
    where `memory.layout` says that part begins, or to its beginning if the number is −1.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return interpreted

    @intrinsic
    def opened(typingctx, memory):
        def codegen(context, builder, signature, args):
            values = cgutils.unpack_tuple(builder, args[0])
            data = {
                name: make_array(array)(context, builder, value).data
                for name, array, value in zip(memory.fields, memory.types, values, strict=True)
            }
            intp = context.get_value_type(types.intp)

            def at(array, index):
                return builder.gep(data[array], [intp(index)])

            rooms = []
            for bundle in signature.return_type.types:
                # In the frame of the calling kernel; LLVM drops the fields that nobody reads.
                room = cgutils.alloca_once(builder, context.get_value_type(bundle).pointee)
                for field in bundle.numbers:
                    array, number, plain = sources[field]
                    value = data[array]
                    if plain:
                        value = builder.load(at(array, number))
                    # Where a part begins is in the memory itself, so one kernel serves memories of all sizes.
                    elif number >= 0:
                        value = builder.gep(value, [builder.load(at("layout", 2 * number))])
                    builder.store(value, bundle.cell(builder, room, field))
                rooms.append(room)
            return context.make_tuple(builder, signature.return_type, rooms)

        return types.Tuple(tuple(bundles_of(memory.instance_class.features)))(memory), codegen

    return opened
