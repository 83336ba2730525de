"""Graph files for tests: small files written by hand."""

import gzip


def packed(text):
    """The text as a .gz file holds it."""
    return gzip.compress(text.encode() if isinstance(text, str) else text)


def put(folder, name, content):
    """A file with this content, text or bytes."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
