"""Values for other programs: as JSON has them, and Arrow tables as data frames where pandas is installed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    import pyarrow


def plain(value: Any) -> Any:
    """`value` in the types of JSON: arrays are lists, numbers that it cannot write are null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def text(value: Any, indent: int | None = 1) -> str:
    """One line of JSON, or several with `indent`, ended by a line break."""
    return json.dumps(plain(value), indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def to_pandas(table: pyarrow.Table) -> Any:
    """`table` as a data frame; an error that names the extra where pandas is missing."""
    try:
        return table.to_pandas()
    except ModuleNotFoundError as error:
        raise InvalidOption(
            f"to_pandas needs pandas, which is not installed ({error}): pip install 'sidelight[pandas]';"
            " to_arrow does not"
        ) from error
