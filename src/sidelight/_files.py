"""Files that are either written completely or not at all."""

import contextlib
import gzip
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast


@contextlib.contextmanager
def replacing(path: Path, pack: bool | None = None) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of `path` once the block has ended well; else nothing changes.

    A `.gz` path is compressed on the way, unless `pack` is False: lightly, since heavier levels take thrice
    the time for 6 % less, and without a time stamp, so that equal graphs give equal files.
    """
    temporary = path.with_name(f".sidelight-{secrets.token_hex(8)}.tmp")  # same folder: replace is atomic
    try:
        with open(temporary, "xb") as file:
            if path.suffix.lower() == ".gz" if pack is None else pack:
                with gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
