"""Keeps Numba's on-disk cache honest.

Numba notices when the file of a cached function changes, but not when a function it *calls* lives in
another file that changed: stale machine code would go on running. Importing `sidelight.engine` compares a
stamp of all kernel sources with the one left by the last import and clears the cache when they differ.
"""

import contextlib
import hashlib
import os
from pathlib import Path

_STAMP = "sidelight-kernels.stamp"
_KERNELS = ("engine/**/*.py", "**/_*kernels.py", "graph/files/_text.py")


def forget_stale_kernels(folder: Path | None = None) -> bool:
    """Delete cached kernels compiled from other sources than the present ones; True if any were."""
    folder = folder or Path(__file__).parents[2]
    cache = folder / "__pycache__"
    sources = sorted({source for pattern in _KERNELS for source in folder.glob(pattern)})
    digest = hashlib.sha256()
    for source in sources:
        digest.update(f"{source.relative_to(folder)}\n".encode() + source.read_bytes())
    stamp = digest.hexdigest()
    try:
        if (cache / _STAMP).read_text() == stamp:
            return False
    except OSError:
        pass  # no stamp yet: nothing is known about the cached files
    stale = [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]
    with contextlib.suppress(OSError):  # a read-only installation keeps its cache elsewhere
        for file in stale:
            file.unlink(missing_ok=True)
        cache.mkdir(exist_ok=True)
        temporary = cache / f"{_STAMP}.{os.getpid()}"
        temporary.write_text(stamp)
        os.replace(temporary, cache / _STAMP)
    return bool(stale)
