"""Arrow tables as pandas data frames, where pandas is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidelight.errors import InvalidOption

if TYPE_CHECKING:
    import pyarrow


def to_pandas(table: pyarrow.Table) -> Any:
    """`table` as a data frame; an error that names the extra where pandas is missing."""
    try:
        return table.to_pandas()
    except ModuleNotFoundError as error:
        raise InvalidOption(
            f"to_pandas needs pandas, which is not installed ({error}): pip install 'sidelight[pandas]';"
            " to_arrow does not"
        ) from error
