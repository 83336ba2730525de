"""Requests, answers and refusals of the service, as JSON has them. Fields that are not listed here are refused."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from sidelight.errors import SidelightError
from sidelight.service.events import Damaged, OutcomeUnknown

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z"  # `$` would let a line end follow
SCOPES = ("read", "decide", "observe", "admin")
MOST_SEED = 2**63 - 1

Name = Annotated[str, Meta(pattern=NAME, description="Letters, digits, dots, dashes; at most 64.")]
Range = Annotated[tuple[float, float], Meta(description="Lowest and highest value.", examples=[[0.0, 25.0]])]


Expires = Annotated[
    float, Meta(gt=0, le=1e10, description="Seconds after which an unanswered decision is cancelled.")
]
Label = Annotated[str, Meta(max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]*\Z")]


class Graph(Struct, forbid_unknown_fields=True):
    """Arms 0..n−1; an edge [i, j] says that playing i reveals the loss of j."""

    n: Annotated[int, Meta(ge=1, description="Number of arms.", examples=[4])]
    edges: Annotated[
        list[tuple[int, int]],
        Meta(description="Pairs [i, j]: i reveals j.", examples=[[[0, 1], [1, 0], [2, 3], [3, 2]]]),
    ]
    labels: Annotated[list[Label] | None, Meta(description="A name for every arm.")] = None
    probabilities: Annotated[
        list[float] | None, Meta(description="Where reveals may fail: how likely each edge works, in (0, 1].")
    ] = None


class NewPolicy(Struct, forbid_unknown_fields=True):
    """A policy to be made."""

    name: Name
    graph: Annotated[
        Graph | Annotated[str, Meta(max_length=200)],
        Meta(description="A graph, or a family such as `cycle:12`.", examples=["cycle:4"]),
    ]
    horizon: Annotated[int, Meta(ge=1, le=2**40)] | None = None
    rewards: Range | None = None
    losses: Range | None = None
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)] | None = None
    expires: Expires | None = None


class Decide(Struct, forbid_unknown_fields=True):
    """How many decisions are wanted."""

    count: Annotated[int, Meta(ge=1, description="Decisions, all from one request.")] = 1


class Observation(Struct, forbid_unknown_fields=True):
    """What one decision revealed: a value for every arm of its `reveals`, in their order or by name.

    Keys are labels where the policy has labels, arm numbers where it has none. A reveal that failed, where
    the graph says that it may, is left out or null.
    """

    decision: int
    losses: Annotated[
        dict[str, float | None] | list[float | None],
        Meta(description="Losses, or rewards where the policy is told rewards.", examples=[{"1": 0.2}]),
    ]
    arms: Annotated[
        list[int] | None,
        Meta(description="The numbers of the arms that a list of losses is about; without it, of `reveals`."),
    ] = None


class Observe(Struct, forbid_unknown_fields=True):
    """Answers to decisions; all of them are taken, or none."""

    observations: Annotated[list[Observation], Meta(min_length=1)]


class NewToken(Struct, forbid_unknown_fields=True):
    """A token to be made."""

    scopes: Annotated[
        list[str], Meta(min_length=1, description="Of read, decide, observe, admin.", examples=[["decide"]])
    ]
    policy: Annotated[Name | None, Meta(description="The one policy it is for; all without it.")] = None
    note: Annotated[str, Meta(max_length=200, description="What it is for.")] = ""


# -- answers ------------------------------------------------------------------------------------------------


class Decision(Struct, omit_defaults=True):
    """One decision: play `arm`, then tell the losses of all of `reveals`."""

    id: int
    round: int
    arm: int
    label: str
    reveals: list[int]
    seen: Annotated[list[float], Meta(description="The probability of each revealed arm to be seen.")]
    past_horizon: Annotated[
        bool,
        Meta(description="The policy was planned for fewer rounds: its bound does not speak of this one."),
    ] = False


class Decisions(Struct):
    """Answer to `Decide`."""

    decisions: list[Decision]


class Observed(Struct):
    """Answer to `Observe`."""

    accepted: Annotated[int, Meta(description="Observations that were new.")]
    repeated: Annotated[int, Meta(description="Observations that were known, and the same.")]


class Cancelled(Struct):
    """Answer to a decision that is given up."""

    decision: int
    repeated: bool


class Bound(Struct):
    """What theory promises: the expected regret of `rounds` rounds is at most `value`, in the unit of the policy.

    Where it is not certified, `why` names what did not go as it assumes: answers that come at once, on the policy's
    graph, none cancelled. The certificate holds all the same.
    """

    value: float | None
    rounds: int
    certified: bool
    why: str = ""


class Certificate(Struct):
    """What the rounds so far certify: E[value] ≥ E[regret] in `round` rounds."""

    value: float | None
    round: int
    terms: dict[str, float | None]


class PolicyAnswer(Struct, omit_defaults=True):
    """A policy as it stands."""

    name: str
    arms: int
    edges: int
    horizon: int | None
    unit: dict[str, Any]
    realization: str
    expires: float | None
    created: float
    decided: Annotated[int, Meta(description="Decisions made.")]
    round: Annotated[int, Meta(description="Decisions that are no longer open.")]
    open: Annotated[int, Meta(description="Decisions that wait for an answer.")]
    cancelled: int
    expired: int
    certificate: Certificate
    bound: Bound
    entropy: Annotated[float, Meta(description="Of the next play, in nats.")]
    probabilities: Annotated[
        list[float] | None, Meta(description="Distribution of the next play; not in lists of policies.")
    ] = None
    labels: list[str] | None = None


class PolicyList(Struct):
    """Policies in the order of their names; `next` is where the following page begins."""

    policies: list[PolicyAnswer]
    next: str | None = None
    damaged: Annotated[dict[str, str], Meta(description="Policies that cannot be served, and why.")] = {}


class OpenList(Struct):
    """Open decisions in the order in which they were made."""

    decisions: list[Decision]
    next: int | None = None


class Token(Struct, omit_defaults=True):
    """A token as it is listed; what it opens doors with is shown once, when it is made."""

    id: str
    scopes: list[str]
    policy: str | None
    note: str
    created: float
    token: str | None = None


class TokenList(Struct):
    """All tokens."""

    tokens: list[Token]


# -- refusals -----------------------------------------------------------------------------------------------


class ErrorDetail(Struct):
    """What is wrong; other fields name the item, the decision and the value."""

    code: str
    message: str
    item: int | None = None
    decision: int | None = None
    request_id: str | None = None


class Error(Struct):
    """Every answer that is not 2xx."""

    error: ErrorDetail


class Problem(SidelightError):
    """What a request is refused with: a status, a code for programs and a sentence for people.

    `about` names the item, the decision and the value where there is one.
    """

    def __init__(
        self, status: int, code: str, message: str, retry_after: float | None = None, **about: Any
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.retry_after, self.about = status, code, retry_after, about

    def body(self, request: str) -> dict[str, Any]:
        """The JSON of the answer to the request of this id."""
        return {"error": {"code": self.code, "message": str(self), **self.about, "request_id": request}}


def unknown_policy(name: str) -> Problem:
    """404."""
    return Problem(404, "unknown_policy", f"there is no policy {name!r}")


def too_large(why: str) -> Problem:
    """422: more than the limits of the service allow."""
    return Problem(422, "too_large", why)


def store_failed(error: object) -> Problem:
    """503: nothing of this request is kept, and it may be sent again, but for what `error` knows better."""
    if isinstance(error, OutcomeUnknown):
        return outcome_unknown(error)
    if isinstance(error, Damaged):
        return Problem(503, "damaged", f"this policy cannot be served: {error}")
    why = f"nothing of this request was stored: {error}; it may be sent again"
    return Problem(503, "store_failed", why, retry_after=1.0)


def outcome_unknown(error: object) -> Problem:
    """503: the answer of whoever stores it was lost. Asked again, with the same key, it counts once."""
    why = f"whether this request was stored is not known: {error}; ask again with the same Idempotency-Key"
    return Problem(503, "unknown", why, retry_after=1.0)


# -- as JSON ------------------------------------------------------------------------------------------------

encode = msgspec.json.Encoder(order=None).encode

EXAMPLES: dict[type, Any] = {
    NewPolicy: {
        "name": "prices",
        "graph": {"n": 4, "edges": [[0, 1], [1, 0], [2, 3], [3, 2]], "labels": ["5", "10", "20", "40"]},
        "rewards": [0, 40],
        "seed": 7,
        "expires": 86400,
    },
    Decide: {"count": 1},
    Decisions: {
        "decisions": [{"id": 1, "round": 1, "arm": 2, "label": "20", "reveals": [3], "seen": [0.25]}]
    },
    Observe: {"observations": [{"decision": 1, "losses": {"40": 0.2}}]},
    Observed: {"accepted": 1, "repeated": 0},
    Cancelled: {"decision": 1, "repeated": False},
    NewToken: {"scopes": ["decide", "observe"], "policy": "prices", "note": "the shop"},
    Error: {
        "error": {
            "code": "answered_differently",
            "message": "observation 0: decision 1 was answered before, by other values",
            "item": 0,
            "decision": 1,
            "request_id": "5f2a-1c",
        }
    },
}
"""For the OpenAPI document, which shows them; tests send them."""
