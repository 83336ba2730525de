"""Pointers that know how far they reach: SIDELIGHT_CHECKED=1, for finding a kernel that reads or writes elsewhere.

Then `Cells` take the place of plain pointers: every index is compared with the size of the field, negative ones too,
and IndexError says where. Numba's own arrays are checked as well. Without it, the functions below add nothing.
"""

import operator
import os
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

CHECKED = os.environ.get("SIDELIGHT_CHECKED", "0") == "1"


class Cells(types.Type):
    """The type of a pointer to cells of one dtype, and their number."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"cells({dtype})")


@register_model(Cells)
class _CellsModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("data", types.CPointer(fe_type.dtype)), ("size", types.intp)]
        super().__init__(dmm, fe_type, members)


def pointer_to(dtype: Any) -> Any:
    """The type of a pointer."""
    return Cells(dtype) if CHECKED else types.CPointer(dtype)


def pointing(context: Any, builder: Any, kind: Any, data: Any, size: Any) -> Any:
    """A value of such a type: to `size` cells, the first at the address `data`."""
    # A plain pointer is its address; no instruction is added.
    if not CHECKED:
        return data
    made = cgutils.create_struct_proxy(kind)(context, builder)
    made.data, made.size = data, size
    return made._getvalue()


def taken_apart(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, Any]:
    """Address and number of cells of such a value; plain pointers do not know the number."""
    if not CHECKED:
        return value, context.get_constant(types.intp, 0)
    found = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    return found.data, found.size


@intrinsic
def _data(typingctx, cells):
    def codegen(context, builder, signature, args):
        return taken_apart(context, builder, signature.args[0], args[0])[0]

    return types.CPointer(cells.dtype)(cells), codegen


@intrinsic
def _size(typingctx, cells):
    def codegen(context, builder, signature, args):
        return taken_apart(context, builder, signature.args[0], args[0])[1]

    return types.intp(cells), codegen


@overload(operator.getitem)
def _get(cells, index):
    if isinstance(cells, Cells):

        def get(cells, index):
            if index < 0 or index >= _size(cells):  # type: ignore[call-arg]
                raise IndexError("a kernel reads outside of its field")
            return _data(cells)[index]  # type: ignore[call-arg]

        return get
    return None


@overload(operator.setitem)
def _set(cells, index, value):
    if isinstance(cells, Cells):

        def set_(cells, index, value):
            if index < 0 or index >= _size(cells):  # type: ignore[call-arg]
                raise IndexError("a kernel writes outside of its field")
            _data(cells)[index] = value  # type: ignore[call-arg]

        return set_
    return None
