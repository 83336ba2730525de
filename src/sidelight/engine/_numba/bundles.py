"""Bundles: dozens of pointers and numbers, handed from function to function as one.

`opener` makes a function that lays the fields of a memory down in the frame of the kernel that calls it, bundle by
bundle, and gives one pointer to each: fields are read from there when they are used. As the compiler cannot know
that writing a cell leaves the bundle alone, loops that should vectorise take what they need into variables first.
Type names are short: they are part of every name that the compiler makes.

Fields are pointers, plain numbers that never change, and *scalars*: cells of one of the arrays, which kernels read
and write by name, as in `state.beta += paid`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

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

from sidelight.engine._numba.checks import pointer_to, pointing, taken_apart


class Bundle(types.Type):
    """The type of a reference to named pointers (to a dtype), plain int64 numbers, and scalars in some of the former.

    scalars[name] = (field, index): the name of that cell of the field.
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, tuple[Any, bool]],
        scalars: Mapping[str, tuple[str, int]],
        features: Collection[str] = (),
    ) -> None:
        import numpy as np

        self.features = frozenset(features)
        self.scalars = dict(scalars)
        self.numbers = {field: at for at, field in enumerate(fields)}
        self.types = [
            types.int64 if plain else pointer_to(from_dtype(np.dtype(dtype)))
            for dtype, plain in fields.values()
        ]
        super().__init__(name="_".join((name, *sorted(features))))


@register_model(Bundle)
class _BundleModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        cells = ir.LiteralStructType([dmm.lookup(field).get_value_type() for field in fe_type.types])
        super().__init__(dmm, fe_type, cells.as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = Bundle

    def generic_resolve(self, typ, attr):  # type: ignore[override]
        if attr in typ.scalars:
            return typ.types[typ.numbers[typ.scalars[attr][0]]].dtype
        return typ.types[typ.numbers[attr]] if attr in typ.numbers else None


def _read(builder, typ, value, field):
    return builder.load(cgutils.gep_inbounds(builder, value, 0, typ.numbers[field]))


def _cell(context, builder, typ, value, scalar):
    """Where a scalar is."""
    field, index = typ.scalars[scalar]
    # As `field[index]` would be compiled: a name costs no more than an index.
    pointer = _read(builder, typ, value, field)
    data, _ = taken_apart(context, builder, typ.types[typ.numbers[field]], pointer)
    return cgutils.gep_inbounds(builder, data, index)


@lower_getattr_generic(Bundle)
def _get(context, builder, typ, value, attr):
    if attr in typ.scalars:
        return builder.load(_cell(context, builder, typ, value, attr))
    return _read(builder, typ, value, attr)


@lower_setattr_generic(Bundle)
def _set(context, builder, signature, args, attr):
    """Only scalars are written: where a pointer leads is fixed as long as the kernel runs."""
    typ = signature.args[0]
    # A pointer that were replaced would still lead to the old cells in every caller.
    if attr not in typ.scalars:
        raise NotImplementedError(f"kernels do not replace {attr}, a field of {typ}")
    builder.store(args[1], _cell(context, builder, typ, args[0], attr))


def written_through(scalars: Mapping[str, tuple[str, int]]) -> type[SimpleNamespace]:
    """Interpreted: a namespace of fields whose scalars are read from, and written to, the arrays that hold them."""

    def cell(field: str, index: int) -> property:
        def read(self: Any) -> Any:
            return getattr(self, field)[index]

        def write(self: Any, value: Any) -> None:
            getattr(self, field)[index] = value

        return property(read, write)

    return type("Named", (SimpleNamespace,), {name: cell(*at) for name, at in scalars.items()})


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
            kind = signature.args[0]
            bundles = signature.return_type.types
            arrays = {
                name: make_array(array)(context, builder, value)
                for name, array, value in zip(
                    kind.fields, kind.types, cgutils.unpack_tuple(builder, args[0]), strict=True
                )
            }
            intp = context.get_value_type(types.intp)

            def cell(array, at):
                return builder.load(builder.gep(arrays[array].data, [intp(at)]))

            found = []
            for bundle in bundles:
                # In the frame of the calling kernel; LLVM drops the fields that nobody reads.
                room = cgutils.alloca_once(builder, context.get_value_type(bundle).pointee)
                for field, at in bundle.numbers.items():
                    array, number, plain = sources[field]
                    value, size = arrays[array].data, arrays[array].nitems
                    if plain:
                        value = cell(array, number)
                    # Where a part begins is in the memory itself, so one kernel serves memories of all sizes.
                    elif number >= 0:
                        first = cell("layout", 2 * number)
                        value = builder.gep(value, [first])
                        size = builder.sub(cell("layout", 2 * number + 1), first)
                    if not plain:
                        value = pointing(context, builder, bundle.types[at], value, size)
                    builder.store(value, cgutils.gep_inbounds(builder, room, 0, at))
                found.append(room)
            return context.make_tuple(builder, signature.return_type, found)

        return types.Tuple(tuple(bundles_of(memory.instance_class.features)))(memory), codegen

    return opened


# -- records: a few numbers in a row, by name -----------------------------------------------------------


class Record(types.Type):
    """The type of a reference to so many doubles in a row, each with a name."""

    def __init__(self, name: str, fields: Sequence[str]) -> None:
        self.places = {field: index for index, field in enumerate(fields)}
        super().__init__(name=f"record_{name}")


@register_model(Record)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.DoubleType().as_pointer())


@infer_getattr
class _RecordFields(AttributeTemplate):
    key = Record

    def generic_resolve(self, typ, attr):  # type: ignore[override]
        return types.float64 if attr in typ.places else None


@lower_getattr_generic(Record)
def _get_in_record(context, builder, typ, value, attr):
    return builder.load(cgutils.gep_inbounds(builder, value, typ.places[attr]))


@lower_setattr_generic(Record)
def _set_in_record(context, builder, signature, args, attr):
    builder.store(args[1], cgutils.gep_inbounds(builder, args[0], signature.args[0].places[attr]))


_RECORDS: dict[str, tuple[str, ...]] = {}


def by_name(fields: Sequence[str], cells: Any) -> Any:
    """For Python: the cells of an array by name, read and written."""
    return _named(tuple(fields))(cells=cells)


@cache
def _named(fields: tuple[str, ...]) -> type[SimpleNamespace]:
    return written_through({field: ("cells", index) for index, field in enumerate(fields)})


def record_of(name: str, fields: Sequence[str]) -> Any:
    """A function from cells, or an array, and a place to the record that begins there: numbers by name.

    No two kinds of records have one name, by which the compiler knows their types.
    """
    known = _RECORDS.setdefault(name, tuple(fields))
    assert known == tuple(fields), f"there are other records called {name}: {known}"
    kind = Record(name, fields)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return lambda cells, at: by_name(fields, cells[at : at + len(fields)])

    @intrinsic
    def record(typingctx, cells, at):
        def codegen(context, builder, signature, args):
            given = signature.args[0]
            if isinstance(given, types.Array):
                data = make_array(given)(context, builder, args[0]).data
            else:
                data, _ = taken_apart(context, builder, given, args[0])
            # Only an address: names are offsets that are known when a kernel is compiled.
            return builder.gep(data, [args[1]])

        return kind(cells, types.intp), codegen

    return record
