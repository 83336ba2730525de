"""The numbers of self-tuning play by name: what the rule fixes, and what changes."""

RULE = (
    "order",
    "share",
    "play_share",
    "diameter",
    "first",
    "weak",
    "beside",
    "strong",
    "lean",
    "patience",
    "horizon",
    "budget",
)
"""The first of machine.rule, by the names of `planning.self_tuning.rule.SelfTuning`."""
(
    ORDER,
    SHARE,
    PLAY_SHARE,
    DIAMETER,
    FIRST,
    WEAK,
    BESIDE,
    STRONG,
    LEAN,
    PATIENCE,
    HORIZON,
    BUDGET,
    PAUSE,
) = range(13)
# PAUSE: rounds between two choices, at least

# state.tuned
(
    BETA,  # β, which is played
    FREE,  # the β that money has bought: the same, unless a budget holds it back
    STRENGTH,  # b: how much is explored
    LEADER,  # I, a slot: the likeliest when b was chosen
    SCALE,  # exploration for the leader's sake is scaled by this: below 1 in the capped family
    RELIEF,  # relief of the leader without that
    KEPT,  # constant exploration of the leader itself, so that what is explored is taken from the others
    PURCHASED,  # β_1·D + Σ ΔW
    CHARGED,  # Σ ĉ
    UNSPENT,  # money that has not bought anything yet
    LIMIT,  # … and is spent as soon as it exceeds this
    RISE,  # Σ ĉ beyond which β must be raised, without a horizon
    ALLOWANCE,  # by how much rounds may still exceed their references
    REFERENCE,  # what a round may cost at this β
    MOST,  # the allowance never exceeds this
    SAFE,  # 1 if rounds are charged with their price, whatever is drawn
    PRICE,  # … which is this
    TARGET,  # with a horizon: the β at which all rounds left are affordable
    CHOSEN,  # β when b was chosen
    LOW,  # the choice holds while X_I stays between these …
    HIGH,
    CHECK,  # … and fewer rounds than this are over
) = range(22)
N_TUNED = 22

# state.surveyed: what `money.survey` found
(
    AT,  # β, 0 for none
    ENTROPY,  # H
    WORTH,  # W
    REST,  # 1 − X_I
    LIKELIEST,  # I
    LEAD,  # d_I
) = range(6)
N_SURVEYED = 6

UNBOUNDED = 1e99
"""More than anything here reaches."""
