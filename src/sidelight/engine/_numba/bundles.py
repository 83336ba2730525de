"""Bundles: dozens of pointers and numbers, handed from function to function as one.

`opener` makes a function that lays the fields of a memory down in the frame of the kernel that calls it, bundle by
bundle, and gives one pointer to each: fields are read from there when they are used. As the compiler cannot know
that writing a cell leaves the bundle alone, loops that should vectorise take what they need into variables first.
Type names are short: they are part of every name that the compiler makes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array
from numba.np.numpy_support import from_dtype

from sidelight.engine._numba.checks import pointer_to, pointing


class Bundle(types.Type):
    """The type of a reference to named pointers (to a dtype) and plain int64 numbers."""

    def __init__(
        self, name: str, fields: Mapping[str, tuple[Any, bool]], features: Collection[str] = ()
    ) -> None:
        import numpy as np

        self.features = frozenset(features)

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
        return typ.types[typ.numbers[attr]] if attr in typ.numbers else None


@lower_getattr_generic(Bundle)
def _field(context, builder, typ, value, attr):
    return builder.load(cgutils.gep_inbounds(builder, value, 0, typ.numbers[attr]))


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
                room = cgutils.alloca_once(builder, context.get_value_type(bundle).pointee)
                for field, at in bundle.numbers.items():
                    array, number, plain = sources[field]
                    value, size = arrays[array].data, arrays[array].nitems
                    if plain:
                        value = cell(array, number)
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
