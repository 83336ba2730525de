"""Rules, one file each. A new one is imported and listed here, and known everywhere."""

from sidelight.policy.rule import Rule as _Rule
from sidelight.policy.rules.exp3_ix import exp3_ix
from sidelight.policy.rules.exp3gpp import exp3gpp
from sidelight.policy.rules.ftl import ftl
from sidelight.policy.rules.spb_ftrl import spb_ftrl
from sidelight.policy.rules.spm_ftrl import spm_ftrl
from sidelight.policy.rules.track_n import track_n
from sidelight.policy.rules.ts_n import ts_n
from sidelight.policy.rules.tsallis_inf import tsallis_inf
from sidelight.policy.rules.tsallis_inf_rv import tsallis_inf_rv
from sidelight.policy.rules.tsallis_inf_shifted import tsallis_inf_shifted
from sidelight.policy.rules.ucb_n import ucb_n
from sidelight.policy.rules.uniform import uniform

__all__ = [
    "exp3_ix",
    "exp3gpp",
    "ftl",
    "spb_ftrl",
    "spm_ftrl",
    "track_n",
    "ts_n",
    "tsallis_inf",
    "tsallis_inf_rv",
    "tsallis_inf_shifted",
    "ucb_n",
    "uniform",
]

RULES: tuple[type[_Rule], ...] = (
    exp3_ix,
    exp3gpp,
    ftl,
    spb_ftrl,
    spm_ftrl,
    track_n,
    ts_n,
    tsallis_inf,
    tsallis_inf_rv,
    tsallis_inf_shifted,
    ucb_n,
    uniform,
)
"""Every rule; files and commands find them by name here."""
