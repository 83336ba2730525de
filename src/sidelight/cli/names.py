"""Names that arguments may have, as the shell offers them.

They come from the library, which takes a second to load, too long for a key; so they are kept in the user's cache
folder until a source file changes. Completion never fails: where nothing is known, nothing is offered.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sidelight._files import replacing

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    Offer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

KINDS = ("families", "policies", "environments", "claims", "realizations", "partitions", "formats")


def offered(names: str | tuple[str, ...], files: bool = False, several: bool = False) -> Offer:
    """Names of one of KINDS, or fixed ones; files where a name may be one; `several`: also after a comma."""

    def offer(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        usages: dict[str, str] = {}
        with contextlib.suppress(Exception):  # no traceback of a broken installation in the prompt
            if isinstance(names, str):  # FILE.py:FUNCTION is nothing to type
                usages = {_typed(usage): usage for usage in remembered()[names] if usage[0].islower()}
            else:
                usages = {name: name for name in names}
        before, comma, last = incomplete.rpartition(",") if several else ("", "", incomplete)
        start = last.lower()
        items = [
            CompletionItem(before + comma + name, help=usages[name])
            for name in usages
            if name.startswith(start)
        ]
        return [*items, CompletionItem(incomplete, type="file")] if files else items

    return offer


graph = offered("families", files=True)
environment = offered("environments")
claim = offered("claims")
policies = offered("policies", several=True)


def known() -> dict[str, list[str]]:
    """Usages of families and environments, names of all else, as `sidelight list` prints them."""
    from sidelight._formats import ENDINGS
    from sidelight._realizations import REALIZATIONS
    from sidelight.environment import names as environments
    from sidelight.experiment import claims
    from sidelight.graph import families
    from sidelight.partition import natural
    from sidelight.policy import names as policies

    return {
        "families": list(families.usages()),
        "policies": [*policies.names(), "FILE.py:NAME", "PLAN.json"],
        "environments": list(environments.usages()),
        "claims": list(claims.names()),
        "realizations": list(REALIZATIONS),
        "partitions": list(natural.__all__),
        "formats": list(ENDINGS),
    }


def remembered() -> dict[str, list[str]]:
    """`known()`, from the cache where that is as new as the sources."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sidelight" / "names.json"
    stamp = _stamp()
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        cached = json.loads(cache.read_text())
        if cached["stamp"] == stamp:
            return {kind: [str(name) for name in cached[kind]] for kind in KINDS}
    names = known()
    with contextlib.suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        with replacing(cache) as file:
            file.write(json.dumps({"stamp": stamp, **names}).encode())
    return names


def _stamp() -> str:
    """Changes when a source file of the library does."""
    sources = list(Path(__file__).parents[1].rglob("*.py"))
    return f"{len(sources)} {max(source.stat().st_mtime_ns for source in sources)}"


def _typed(usage: str) -> str:
    """The part of a usage that is always typed the same: `cycle:` of `cycle:N[:directed]`."""
    name, bracket, _ = usage.partition("[")
    head, colon, _ = name.partition(":")
    return head if bracket and not colon else head + colon
