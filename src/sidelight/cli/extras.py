"""Packages that only some commands need."""

from __future__ import annotations

from importlib.util import find_spec


def needs(extra: str, *packages: str) -> None:
    """Refuse, with the way out, where a package of an extra is missing."""
    from sidelight.errors import InvalidOption

    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise InvalidOption(
            f"this command needs {', '.join(missing)}, which a plain installation leaves out:"
            f" pip install 'sidelight[{extra}]'"
        )
