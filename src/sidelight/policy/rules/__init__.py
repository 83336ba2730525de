"""Rules, one file each. A line here is all that a new file needs to be known everywhere."""

from typing import TYPE_CHECKING

from sidelight.policy.rule import Rule as _Rule
from sidelight.policy.rules.exp3_ix import exp3_ix as exp3_ix
from sidelight.policy.rules.ftl import ftl as ftl
from sidelight.policy.rules.ts_n import ts_n as ts_n
from sidelight.policy.rules.tsallis_inf import tsallis_inf as tsallis_inf
from sidelight.policy.rules.ucb_n import ucb_n as ucb_n
from sidelight.policy.rules.uniform import uniform as uniform

RULES: tuple[type[_Rule], ...] = tuple(
    value
    for value in globals().values()
    if isinstance(value, type) and value.__module__.startswith(f"{__name__}.")
)
"""Every rule; files and commands find them by name here."""

if not TYPE_CHECKING:  # type checkers see the names above
    __all__ = [rule.name for rule in RULES]
