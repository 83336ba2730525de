"""Keeps Numba's on-disk cache honest.

Numba notices when the file of a cached function changes, but not when a function it *calls* lives in
another file that changed: stale machine code would go on running. Importing `sidelight.kernels` compares a
stamp of all kernel sources with the one left by the last import and clears the cache when they differ.
"""

import contextlib
import os
from pathlib import Path

_STAMP = "sidelight-kernels.stamp"


def forget_stale_kernels(folder: Path | None = None) -> bool:
    """Delete cached kernels compiled from other sources than the present ones; True if any were."""
    folder = folder or Path(__file__).parent
    cache = folder / "__pycache__"
    stamp = "\n".join(
        f"{source.name} {status.st_size} {status.st_mtime_ns}"
        for source in sorted(folder.glob("*.py"))
        for status in [source.stat()]
    )
    try:
        if (cache / _STAMP).read_text() == stamp:
            return False
    except OSError:
        pass  # no stamp yet: nothing is known about the cached files
    stale = [*cache.glob("*.nbi"), *cache.glob("*.nbc")] if cache.is_dir() else []
    with contextlib.suppress(OSError):  # a read-only installation keeps its cache elsewhere
        for file in stale:
            file.unlink(missing_ok=True)
        cache.mkdir(exist_ok=True)
        temporary = cache / f"{_STAMP}.{os.getpid()}"
        temporary.write_text(stamp)
        os.replace(temporary, cache / _STAMP)
    return bool(stale)
