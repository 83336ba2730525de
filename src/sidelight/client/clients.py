"""The clients: one that waits for answers, and one for programs that do other things meanwhile.

What they send and what answers mean is in `calls.py`; here is how it gets there and back.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, overload

from sidelight._files import replacing
from sidelight.client import calls
from sidelight.client.calls import Decision, Observed, Operation, Result

if TYPE_CHECKING:
    import httpx

    from sidelight.graph import FeedbackGraph
    from sidelight.log import Log


Arguments = ParamSpec("Arguments")


def _awaited(
    method: Callable[Concatenate[RemotePolicy, Arguments], Result],
) -> Callable[Concatenate[AsyncRemotePolicy, Arguments], Awaitable[Result]]:
    """The same method where `client.run` is awaited: it returns whatever that does."""
    return method  # type: ignore[return-value]


class Client:
    """The service at `url`. Requests that get no answer are sent again, which changes nothing twice."""

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0, tries: int = 8) -> None:
        self.url, self.tries = calls.address(url), tries
        headers = calls.headers(token)
        self._http = calls.http_library().Client(base_url=self.url, headers=headers, timeout=timeout)

    def run(self, operation: Operation[Result]) -> Result:
        """The result of an operation, whose requests are sent as often as it takes."""
        steps = calls.steps(operation, self.url, self.tries)
        answer: httpx.Response | Exception | None = None
        try:
            while True:
                step, answer = steps.send(answer), None
                if isinstance(step, float):
                    time.sleep(step)
                    continue
                try:
                    answer = self._http.request(**vars(step))
                except calls.http_library().TransportError as error:
                    answer = error
        except StopIteration as done:
            result: Result = done.value
            return result

    # -- policies --------------------------------------------------------------------------------------

    def create(
        self,
        name: str,
        graph: FeedbackGraph | str,
        *,
        horizon: int | None = None,
        rewards: tuple[float, float] | None = None,
        losses: tuple[float, float] | None = None,
        seed: int | None = None,
        expires: float | None = None,
    ) -> RemotePolicy:
        """A new policy for a graph, or for a family such as "cycle:12"."""
        options = {"horizon": horizon, "rewards": rewards, "losses": losses, "seed": seed, "expires": expires}
        return self.run(calls.create(self.policy(name), name, graph, options))

    def policy(self, name: str) -> RemotePolicy:
        """A policy that exists; nothing is asked yet."""
        return RemotePolicy(self, name)

    def policies(self) -> Iterator[dict[str, Any]]:
        """All policies as they stand, in the order of their names."""
        yield from self.run(calls.policies())

    def bring(self, name: str, path: str | PathLike[str]) -> RemotePolicy:
        """Import what `export` has written, under this name."""
        self.run(calls.ask("POST", f"{calls.policy(name)}/import", content=Path(path).read_bytes()))
        return self.policy(name)

    # -- tokens ----------------------------------------------------------------------------------------

    def create_token(
        self, scopes: Iterable[str], policy: str | None = None, note: str = ""
    ) -> dict[str, Any]:
        """A new token; its `token` is shown this once."""
        body = {"scopes": list(scopes), "policy": policy, "note": note}
        made: dict[str, Any] = self.run(calls.ask("POST", "/v1/tokens", json=body)).json()
        return made

    def tokens(self) -> list[dict[str, Any]]:
        """All tokens, without their secrets."""
        listed: list[dict[str, Any]] = self.run(calls.read("/v1/tokens", "tokens"))
        return listed

    def revoke(self, token: str) -> None:
        """The token of this id is good no longer."""
        self.run(calls.ask("DELETE", f"/v1/tokens/{token}"))

    # -- ends ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RemotePolicy:
    """A policy behind the service: decide, observe, cancel."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name

    @overload
    def decide(self, *, key: str | None = None) -> Decision: ...
    @overload
    def decide(self, *, count: int, key: str | None = None) -> list[Decision]: ...
    def decide(self, *, count: int | None = None, key: str | None = None) -> Any:
        """The next arm to play, or the next `count` of them; the same `key` gives the same ones again."""
        return self.client.run(calls.decide(self.name, count, key))

    def observe(self, decision: Decision | int, losses: calls.Losses) -> Observed:
        """Report what a decision revealed: {arm or label: value}, or values in the order of `reveals`."""
        return self.client.run(calls.observe(self.name, [(decision, losses)]))

    def observe_all(self, answers: Iterable[tuple[Decision | int, calls.Losses]]) -> Observed:
        """Report what many decisions revealed."""
        return self.client.run(calls.observe(self.name, answers))

    def cancel(self, decision: Decision | int) -> None:
        """Nothing will come for this decision."""
        return self.client.run(calls.cancel(self.name, decision))

    def show(self) -> dict[str, Any]:
        """The policy as it stands: round, open, probabilities, certificate, bound."""
        shown: dict[str, Any] = self.client.run(calls.read(calls.policy(self.name)))
        return shown

    def log(self) -> Log:
        """Everything that was answered, for `sl.evaluate`."""
        from sidelight.log import Log

        path = f"{calls.policy(self.name)}/log"
        answer = self.client.run(calls.ask("GET", path, params={"format": "parquet"}))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "log.parquet"
            file.write_bytes(answer.content)
            return Log.read(file)

    def export(self, path: str | PathLike[str]) -> None:
        """Write everything about the policy to a file, whole or not at all."""
        answer = self.client.run(calls.ask("GET", f"{calls.policy(self.name)}/export"))
        with replacing(Path(path), pack=False) as stream:
            stream.write(answer.content)

    def remove(self) -> None:
        """Delete the policy and all its events."""
        self.client.run(calls.ask("DELETE", calls.policy(self.name)))


class AsyncClient:
    """The service at `url`; `Client` with `await`."""

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0, tries: int = 8) -> None:
        self.url, self.tries = calls.address(url), tries
        headers = calls.headers(token)
        self._http = calls.http_library().AsyncClient(base_url=self.url, headers=headers, timeout=timeout)

    async def run(self, operation: Operation[Result]) -> Result:
        """The result of an operation, whose requests are sent as often as it takes."""
        steps = calls.steps(operation, self.url, self.tries)
        answer: httpx.Response | Exception | None = None
        try:
            while True:
                step, answer = steps.send(answer), None
                if isinstance(step, float):
                    await asyncio.sleep(step)
                    continue
                try:
                    answer = await self._http.request(**vars(step))
                except calls.http_library().TransportError as error:
                    answer = error
        except StopIteration as done:
            result: Result = done.value
            return result

    async def create(self, name: str, graph: FeedbackGraph | str, **options: Any) -> AsyncRemotePolicy:
        """A new policy for a graph, or for a family such as "cycle:12", with the options of `Client.create`."""
        return await self.run(calls.create(self.policy(name), name, graph, options))

    def policy(self, name: str) -> AsyncRemotePolicy:
        """A policy that exists; nothing is asked yet."""
        return AsyncRemotePolicy(self, name)

    async def policies(self) -> AsyncIterator[dict[str, Any]]:
        """All policies as they stand, in the order of their names."""
        for each in await self.run(calls.policies()):
            yield each

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncRemotePolicy:
    """A policy behind the service: decide, observe, cancel."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self.client, self.name = client, name

    @overload
    async def decide(self, *, key: str | None = None) -> Decision: ...
    @overload
    async def decide(self, *, count: int, key: str | None = None) -> list[Decision]: ...
    async def decide(self, *, count: int | None = None, key: str | None = None) -> Any:
        """The next arm to play, or the next `count` of them; the same `key` gives the same ones again."""
        return await self.client.run(calls.decide(self.name, count, key))

    observe = _awaited(RemotePolicy.observe)
    observe_all = _awaited(RemotePolicy.observe_all)
    cancel = _awaited(RemotePolicy.cancel)
    show = _awaited(RemotePolicy.show)
