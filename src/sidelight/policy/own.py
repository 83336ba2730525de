"""A player of one's own: any class or function of (graph, horizon, seed) that makes something with `ask` and `tell`.

    class Mine:
        def __init__(self, graph, horizon, seed): ...
        def ask(self): ...              # the arm to play
        def tell(self, losses): ...     # {arm: loss} of every arm that it reveals

`decide()` and `observe(decision, losses)` will do as well, and are used where a player has both: then several plays
may be open, as they are where losses come late. `playable` turns it into what simulations play, and whatever goes
wrong in it into a `PolicyError` that names file and line. `own_from_source` finds one in a file of Python,
"FILE.py:NAME", which is run as a module of its own, once for each content.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

import sidelight
from sidelight._check import checked_path, is_whole, suggestion
from sidelight._files import digest
from sidelight._types import Floats
from sidelight.errors import InvalidOption, PolicyError, SidelightError
from sidelight.policy.player import Playable, Player
from sidelight.policy.policy import Policy

if TYPE_CHECKING:
    from sidelight.graph import FeedbackGraph
    from sidelight.planning import Bound

ARGUMENTS = ("graph", "horizon", "seed")
_HOME = str(Path(sidelight.__file__).parent)
_LIBRARIES = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))

Make = Callable[..., Any]

MISTAKES = (Exception, SystemExit)
"""What a player's own code may raise: one that calls sys.exit() ends its game, not the process."""
ONE_BY_ONE, SEVERAL = ("ask", "tell"), ("decide", "observe")
"""How players take turns; with the second, any number of plays may be open."""
TURNS = "it needs the methods ask() and tell(losses), or decide() and observe(decision, losses)"


class Heard(dict[int, float]):
    """The losses that were revealed, by arm; as an array they are in the order of `graph.out_neighbors(arm)`.

    A reveal that failed is not among them, and NaN in the array.

    >>> heard = Heard(np.array([2, 5]), np.array([0.25, np.nan]))
    >>> dict(heard), np.asarray(heard).tolist()
    ({2: 0.25}, [0.25, nan])
    """

    def __init__(self, arms: npt.ArrayLike, losses: Floats) -> None:
        pairs = zip(np.asarray(arms).tolist(), losses.tolist(), strict=True)
        super().__init__((arm, loss) for arm, loss in pairs if loss == loss)
        self._losses = losses

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self._losses, dtype=dtype)


def is_own(value: object) -> bool:
    """A class, or a function: not something that is ready to be played."""
    return isinstance(value, type) or (callable(value) and not hasattr(value, "graph"))


def playable(make: Make, name: str, graph: FeedbackGraph, horizon: int | None) -> Playable | Player:
    """What simulations play: the plan or policy that `make` makes, or players of one's own, one for each seed."""
    result = _made(make, name, graph, horizon, 0)
    if isinstance(result, Playable | Policy):
        return result  # of a policy, which plays many rounds at once, each seed starts from a copy
    if _verbs(result) is None:
        kind = "nothing" if result is None else f"a {type(result).__name__}"
        raise PolicyError(f"{name} made {kind}, which plays nothing: {TURNS}")
    return Own(make, graph, horizon, name)


def guarded(player: object) -> Player | None:
    """A ready-made player with its mistakes as `PolicyError`s; None if it takes no turns, or cannot be copied."""
    if isinstance(player, type) or _verbs(player) is None or not hasattr(player, "graph"):
        return None
    return OwnPlayer(player, None) if callable(getattr(player, "copy", None)) else None


def check_several(player: object) -> None:
    """Refuse a player that cannot have several plays open."""
    if isinstance(player, OwnPlayer) and player.verbs != SEVERAL:
        raise InvalidOption(
            f"{player.realization} has no decide and observe, so its losses cannot come late: ask and tell take one"
            " play at a time. Give it decide(), which returns an arm, or anything with an attribute arm, and"
            " observe(decision, losses), which is told what decide returned"
        )


def ready_for_changes(player: Player) -> Player:
    """A copy of the policy that is ready for graphs that change."""
    if not isinstance(player, Policy):
        raise InvalidOption("a player of one's own plays on one graph, and in this environment they change")
    return player._for_changes()


@dataclass(frozen=True, eq=False, repr=False)
class Own:
    """Players of one's own as a `Playable`: nothing is promised about them."""

    make: Make
    graph: FeedbackGraph
    horizon: int | None
    realization: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def bound_at(self, t: int, confidence: float | None = None) -> Bound | None:
        """Nothing is known."""
        return None

    def policy(self, seed: int | None = None) -> Any:
        """A new player on the random stream of `seed`."""
        return OwnPlayer(self, 0 if seed is None else seed)

    def __repr__(self) -> str:
        return f"Own({self.realization!r}, n_arms={self.graph.n_arms}, horizon={self.horizon})"


class Decided(NamedTuple):
    """One play of a player of one's own."""

    arm: int
    said: Any  # what its decide returned
    number: int  # decisions are numbered from 1


class OwnPlayer:
    """Turns of somebody's player, by ask and tell or by decide and observe; its mistakes are `PolicyError`s.

    The player of an `Own` is made when it first plays, and told losses by arm; one that is given ready-made, as it
    is, is told them in the order of the arms.
    """

    def __init__(self, plan: Any, seed: int | None) -> None:
        self.plan, self.graph, self.seed = plan, plan.graph, seed
        self.realization = plan.realization if isinstance(plan, Own) else type(plan).__name__
        self.round = self._made = 0
        self._asked: Decided | None = None

    @cached_property
    def _player(self) -> Any:
        plan = self.plan
        if not isinstance(plan, Own):
            return plan
        return _made(plan.make, plan.realization, plan.graph, plan.horizon, self.seed or 0)

    @cached_property
    def verbs(self) -> tuple[str, str]:
        """How it takes turns."""
        return _verbs(self._player) or ONE_BY_ONE

    @property
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""
        arm: int | None = getattr(self.plan, "pending", None) if self._asked is None else self._asked.arm
        return arm

    def copy(self, seed: int | None = None) -> OwnPlayer:
        """Another player on the random stream of `seed`: a copy of one that is ready-made, else a new one."""
        if not isinstance(self.plan, Own):
            with self._blamed(f"{self.realization}.copy() failed"):
                return OwnPlayer(self.plan.copy(seed), seed)
        if self._made:
            raise InvalidOption(f"{self.realization} has begun to play, and cannot be copied")
        return OwnPlayer(self.plan, self.seed if seed is None else seed)

    def ask(self) -> int:
        """The next arm to play."""
        self._asked = self.decide()
        return self._asked.arm

    def tell(self, losses: npt.ArrayLike) -> None:
        """The losses that it revealed, in the order of the arms, NaN where a reveal failed."""
        decision, self._asked = self._asked, None
        assert decision is not None
        self.observe(decision, losses)

    def decide(self) -> Decided:
        """The same for any number of open plays, where the player has decide and observe."""
        verb, number, n = self.verbs[0], self._made + 1, self.graph.n_arms
        method = getattr(self._player, verb)
        with self._blamed(f"{self.realization}.{verb}() failed in {self._when(number)}"):
            said = method()
            arm = getattr(said, "arm", said)
        if not is_whole(arm) or not 0 <= arm < n:
            code = getattr(getattr(method, "__func__", method), "__code__", None)
            where = "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
            raise PolicyError(
                f"{self.realization}.{verb}() must return an arm, a whole number from 0 to {n - 1}, and returned"
                f" {arm!r:.60} in {self._when(number)}{where}"
            )
        self._made = number
        return Decided(int(arm), said, number)

    def observe(self, decision: Decided, losses: npt.ArrayLike) -> None:
        """What a decision revealed."""
        values: Any = np.asarray(losses, dtype=np.float64)
        if isinstance(self.plan, Own):
            values = Heard(self.graph.out_neighbors(decision.arm), values)
        which = (decision.said,) if self.verbs == SEVERAL else ()
        with self._blamed(f"{self.realization}.{self.verbs[1]}() failed in {self._when(decision.number)}"):
            getattr(self._player, self.verbs[1])(*which, values)
        self.round += 1

    @contextlib.contextmanager
    def _blamed(self, what: str) -> Iterator[None]:
        try:
            yield
        except MISTAKES as error:
            raise _blame(what, error) from error

    def _when(self, number: int) -> str:
        return f"round {number}" if self.seed is None else f"round {number} of seed {self.seed}"


def _made(make: Make, name: str, graph: FeedbackGraph, horizon: int | None, seed: int) -> Any:
    """make(graph, horizon, seed), or fewer of these, by name where it names them."""
    given = dict(zip(ARGUMENTS, (graph, horizon, seed), strict=True))
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):  # written in C
        parameters = inspect.signature(lambda graph, horizon, seed: None).parameters
    kinds = {each.kind for each in parameters.values()}
    named = [name for name in ARGUMENTS if name in parameters or inspect.Parameter.VAR_KEYWORD in kinds]
    try:
        if named or not parameters:
            return make(**{name: given[name] for name in named})
        return make(*given.values())
    except SidelightError:
        raise  # such as a plan that does not apply to the graph
    except MISTAKES as error:
        raise _blame(f"{name} cannot be made from (graph, horizon, seed)", error) from error


def _verbs(player: object) -> tuple[str, str] | None:
    """How it takes turns: by decisions and observations, else by asking and telling; None if by neither."""
    for verbs in (SEVERAL, ONE_BY_ONE):
        if all(callable(getattr(player, verb, None)) for verb in verbs):
            return verbs
    return None


def _blame(what: str, error: BaseException) -> PolicyError:
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return PolicyError(f"{what}: {said}{_line_of(error)}")


def _line_of(error: BaseException) -> str:
    """Where a mistake is: the deepest line of nobody's library, else that is not ours."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    everything = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in everything if not frame.filename.startswith((_HOME, "<frozen"))]
    theirs = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)] or frames
    return f" ({theirs[-1].filename}:{theirs[-1].lineno}, in {theirs[-1].name})" if theirs else ""


# -- from a file of Python --------------------------------------------------------------------------------


def own_source(path: Path, wanted: str = "FILE.py:NAME, the path of a Python file and a name in it") -> bytes:
    """What the file holds."""
    file = checked_path("a policy", path)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise InvalidOption(f"{file} does not exist; write {wanted}") from None
    except OSError as error:
        raise InvalidOption(f"{file} cannot be read: {error.strerror or error}") from None


def own_from_source(path: Path, source: bytes, name: str) -> Any:
    """What is called `name` in the file: a class, a function, a plan or a policy. The file is run for it."""
    names = vars(_module(path, source))
    if name not in names:
        home = {key: str(getattr(value, "__module__", "")) for key, value in names.items() if callable(value)}
        offered = [key for key in home if home[key].startswith(_PREFIX) and not key.startswith("_")]
        if not offered:
            raise InvalidOption(f"{path} has nothing called {name!r}, nor any class or function of its own")
        raise InvalidOption(f"{path} has nothing called {name!r}; {suggestion(name, offered, 'names')}")
    value = names[name]
    if not is_own(value) and not isinstance(value, Playable | Player):
        raise InvalidOption(
            f"{name} of {path} is {type(value).__name__}, not a class or function of (graph, horizon, seed), nor a"
            " plan"
        )
    return value


_PREFIX = "sidelight_own_"


def _module(path: Path, source: bytes) -> ModuleType:
    """The file as a module that Python knows, so that its classes can be copied; run when first asked for."""
    name = f"{_PREFIX}{path.stem}_{digest(str(path), source)[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    folder = str(path.absolute().parent)
    sys.path.insert(0, folder)  # modules in the same folder can be imported, as by `python FILE.py`
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _blame(f"{path} cannot be run", error) from error
    finally:
        sys.path.remove(folder)
    return module
