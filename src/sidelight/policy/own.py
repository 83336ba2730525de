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
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

import sidelight
from sidelight._check import checked_path, is_whole, suggestion
from sidelight._files import digest
from sidelight._types import Floats
from sidelight.errors import InvalidOption, PolicyError, SidelightError
from sidelight.policy.player import MinimalPlayer, Playable
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


def playable(make: Make, name: str, graph: FeedbackGraph, horizon: int | None) -> Playable | MinimalPlayer:
    """What simulations play: the plan or policy that `make` makes, or players of one's own, one for each seed."""
    made = _made(make, name, graph, horizon, 0)
    if isinstance(made, Playable):
        return made
    if isinstance(made, Policy):
        return made  # a policy, which plays many rounds at once; each seed starts from a copy
    if _verbs(made) is None:
        raise PolicyError(f"{name} made {_kind(made)}, which plays nothing: {TURNS}")
    return Own(make, graph, horizon, name)


def guarded(player: object) -> MinimalPlayer | None:
    """A ready-made player with its mistakes as `PolicyError`s; None if it takes no turns, or cannot be copied."""
    if isinstance(player, type) or _verbs(player) is None or not hasattr(player, "graph"):
        return None
    return Guarded(player) if callable(getattr(player, "copy", None)) else None


def check_several(player: object) -> None:
    """Refuse a player that cannot have several plays open."""
    if isinstance(player, OwnPlayer | Guarded) and player.verbs != SEVERAL:
        raise InvalidOption(
            f"{player.realization} has no decide and observe, so its losses cannot come late: ask and tell take one"
            " play at a time. Give it decide(), which returns an arm, or anything with an attribute arm, and"
            " observe(decision, losses), which is told what decide returned"
        )


def ready_for_changes(player: Any) -> MinimalPlayer:
    """A copy of the player that is ready for graphs that change, as it says itself."""
    if isinstance(player, Policy):
        return player._for_changes()
    inner = player.plan if isinstance(player, Guarded) else player
    if not hasattr(inner, "for_changes"):
        raise InvalidOption(
            f"{type(inner).__name__} plays on one graph, and in this environment they change: it needs"
            " for_changes, decide(graph=…) and observe(…, graph=…)"
        )
    ready: MinimalPlayer = inner.for_changes()
    return ready


def takes_no_turns(make: object) -> bool:
    """Does a class say by itself, before anything is made of it, that its players cannot play?"""
    if not isinstance(make, type) or _verbs(make) is not None or hasattr(make, "policy"):
        return False
    said = [vars(each) for each in make.__mro__[:-1]]  # without object's own
    if any("__getattr__" in each or "__new__" in each for each in said):
        return False  # who knows what they make
    made = [getattr(each.get("__init__"), "__code__", None) for each in said]
    given = {name for code in made if code is not None for name in code.co_names}
    return not given & {"ask", "decide", "__dict__"}  # methods that a constructor gives to its object


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


class _Turns:
    """Turns of somebody's player, by ask and tell or by decide and observe; its mistakes are `PolicyError`s."""

    plan: Any
    graph: FeedbackGraph
    realization: str
    _player: Any
    _makes: Any  # whose file is named first where it goes wrong

    def __init__(self, seed: int | None) -> None:
        self.seed, self.round = seed, 0
        self._made = 0
        self._asked: Decided | None = None

    @cached_property
    def verbs(self) -> tuple[str, str]:
        """How it takes turns."""
        return _verbs(self._player) or ONE_BY_ONE

    @property
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""
        return None if self._asked is None else self._asked.arm

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
        with self._blamed(verb, number):
            said = getattr(self._player, verb)()
            arm = getattr(said, "arm", said)
        if not is_whole(arm) or not 0 <= arm < n:
            where = _defined(getattr(self._player, verb))
            raise PolicyError(
                f"{self.realization}.{verb}() must return an arm, a whole number from 0 to {n - 1}, and returned"
                f" {arm!r:.60} in {self._when(number)}{where}"
            )
        self._made = number
        return Decided(int(arm), said, number)

    def observe(self, decision: Decided, losses: npt.ArrayLike) -> None:
        """What a decision revealed."""
        which = (decision.said,) if self.verbs == SEVERAL else ()
        with self._blamed(self.verbs[1], decision.number):
            getattr(self._player, self.verbs[1])(*which, losses)
        self.round += 1

    @contextlib.contextmanager
    def _blamed(self, verb: str, number: int) -> Iterator[None]:
        try:
            yield
        except MISTAKES as error:
            what = f"{self.realization}.{verb}() failed in {self._when(number)}"
            raise _blame(what, error, self._makes) from error

    def _when(self, number: int) -> str:
        return f"round {number}" if self.seed is None else f"round {number} of seed {self.seed}"


class OwnPlayer(_Turns):
    """One player, made when it first plays, and told losses by arm."""

    plan: Own

    def __init__(self, plan: Own, seed: int) -> None:
        super().__init__(seed)
        self.plan, self.graph, self.realization = plan, plan.graph, plan.realization
        self._makes = plan.make

    def copy(self, seed: int | None = None) -> OwnPlayer:
        """A new player on the random stream of `seed`: this one has not played yet."""
        if self._made:
            raise InvalidOption(f"{self.realization} has begun to play, and cannot be copied")
        return OwnPlayer(self.plan, cast("int", self.seed) if seed is None else seed)

    def observe(self, decision: Decided, losses: npt.ArrayLike) -> None:
        """What a decision revealed."""
        values: Floats = np.asarray(losses, dtype=np.float64)
        super().observe(decision, Heard(self.graph.out_neighbors(decision.arm), values))

    @cached_property
    def _player(self) -> Any:
        plan, seed = self.plan, cast("int", self.seed)
        return _made(plan.make, plan.realization, plan.graph, plan.horizon, seed)


class Guarded(_Turns):
    """A player that somebody has made, as it is; told losses in the order of the arms."""

    def __init__(self, player: Any, seed: int | None = None) -> None:
        super().__init__(seed)
        self.plan = self._player = player
        self.graph, self.realization, self._makes = player.graph, type(player).__name__, type(player)

    @property
    def pending(self) -> int | None:
        """The arm that was asked for and not told yet."""
        found: int | None = getattr(self.plan, "pending", None)
        return found

    def copy(self, seed: int | None = None) -> Guarded:
        """A copy of the player, guarded too."""
        try:
            return Guarded(self.plan.copy(seed), seed)
        except MISTAKES as error:
            raise _blame(f"{self.realization}.copy() failed", error, self._makes) from error


def _blame(what: str, error: BaseException, make: Any) -> PolicyError:
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return PolicyError(f"{what}: {said}{_line_of(error, make)}")


class Decided(NamedTuple):
    """One play of a player of one's own."""

    arm: int
    said: Any  # what its decide returned
    number: int  # decisions are numbered from 1


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
        raise _blame(f"{name} cannot be made from (graph, horizon, seed)", error, make) from error


def _verbs(player: object) -> tuple[str, str] | None:
    """How it takes turns: by decisions and observations, else by asking and telling; None if by neither."""
    for verbs in (SEVERAL, ONE_BY_ONE):
        if all(callable(getattr(player, verb, None)) for verb in verbs):
            return verbs
    return None


def _kind(made: object) -> str:
    return "nothing" if made is None else f"a {type(made).__name__}"


def _line_of(error: BaseException, make: object) -> str:
    """Where a mistake is: the deepest line of nobody's library, else of the player's file, else that is not ours."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_HOME, "<frozen"))
    ]
    own = _file(make)
    theirs = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)]
    theirs = theirs or [frame for frame in frames if frame.filename == own] or frames
    return f" ({theirs[-1].filename}:{theirs[-1].lineno}, in {theirs[-1].name})" if theirs else ""


def _file(made: Any) -> str | None:
    with contextlib.suppress(TypeError, OSError):
        return inspect.getsourcefile(made) or inspect.getfile(made)
    with contextlib.suppress(AttributeError):
        return str(made.__code__.co_filename)
    with contextlib.suppress(AttributeError):
        return str(made.__init__.__code__.co_filename)
    return None


def _defined(method: Any) -> str:
    code = getattr(getattr(method, "__func__", method), "__code__", None)
    return "" if code is None else f" ({os.fspath(code.co_filename)}:{code.co_firstlineno})"


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
    found = vars(_module(path, source))
    if name not in found:
        offered = [key for key, value in found.items() if not key.startswith("_") and _offered(value)]
        if not offered:
            raise InvalidOption(f"{path} has nothing called {name!r}, nor any class or function of its own")
        raise InvalidOption(f"{path} has nothing called {name!r}; {suggestion(name, offered, 'names')}")
    value = found[name]
    if not is_own(value) and not isinstance(value, Playable | MinimalPlayer):
        raise InvalidOption(
            f"{name} of {path} is {type(value).__name__}, not a class or function of (graph, horizon, seed), nor a"
            " plan"
        )
    return value


def _offered(value: object) -> bool:
    return callable(value) and getattr(value, "__module__", "").startswith(_PREFIX)


_PREFIX = "sidelight_own_"


def _module(path: Path, source: bytes) -> ModuleType:
    """The file as a module that Python knows, so that its classes can be copied; run when first asked for."""
    name = f"{_PREFIX}{path.stem}_{digest(str(path), source)[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        with _beside(path):
            exec(compile(source, str(path), "exec"), vars(module))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        where = _line_of(error, module)
        raise PolicyError(f"{path} cannot be run: {type(error).__name__}: {error}{where}") from error
    return module


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[None]:
    """Modules in the same folder can be imported, as by `python FILE.py`."""
    folder = str(path.absolute().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
