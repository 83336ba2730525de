"""What made a result: versions and platform, without anything that changes from run to run."""

from __future__ import annotations

import platform
from functools import lru_cache

from sidelight._version import __version__


@lru_cache(maxsize=1)
def here() -> dict[str, str]:
    """The versions that decide about results, of the process that calls this."""
    import numba
    import numpy

    return {
        "sidelight": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
    }
