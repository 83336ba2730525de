"""A client for programs that do other things while they wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Self, overload

from sidelight.client import calls
from sidelight.client.answers import Decision, Observed, decisions

if TYPE_CHECKING:
    import httpx

    from sidelight.graph import FeedbackGraph


class AsyncClient:
    """The service at `url`; `Client` with `await`."""

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0, tries: int = 8) -> None:
        self.url, self.tries = calls.address(url), tries
        self._http = calls.http_library().AsyncClient(
            base_url=self.url, headers=calls.headers(token), timeout=timeout
        )

    async def send(self, call: calls.Call) -> httpx.Response:
        """One request, as often as it takes."""
        import httpx

        for attempt in range(self.tries):
            answer = None
            try:
                answer = await self._http.request(
                    call.method, call.path, json=call.json, params=dict(call.query), headers=dict(call.headers),
                    content=call.content,
                )  # fmt: skip
                if attempt + 1 == self.tries or not calls.again(answer):
                    return calls.checked(answer)
            except httpx.TransportError as error:
                if attempt + 1 == self.tries:
                    raise calls.unreachable(self.url, error) from error
            await asyncio.sleep(calls.wait(attempt, answer))
        raise AssertionError("unreachable")

    async def create(
        self,
        name: str,
        graph: FeedbackGraph | str,
        *,
        horizon: int | None = None,
        rewards: tuple[float, float] | None = None,
        losses: tuple[float, float] | None = None,
        seed: int | None = None,
        expires: float | None = None,
    ) -> AsyncRemotePolicy:
        """A new policy for a graph, or for a family such as "cycle:12"."""
        options = {"horizon": horizon, "rewards": rewards, "losses": losses, "seed": seed, "expires": expires}
        await self.send(calls.create(name, graph, options))
        return AsyncRemotePolicy(self, name)

    def policy(self, name: str) -> AsyncRemotePolicy:
        """A policy that exists; nothing is asked yet."""
        return AsyncRemotePolicy(self, name)

    async def policies(self) -> AsyncIterator[dict[str, Any]]:
        """All policies as they stand, in the order of their names."""
        after: str | None = ""
        while after is not None:
            body = (await self.send(calls.Call("GET", "/v1/policies", query={"after": after}))).json()
            for found in body["policies"]:
                yield found
            after = body["next"]

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
    async def decide(self, *, count: int | None = None, key: str | None = None) -> Decision | list[Decision]:
        """The next arm to play, or the next `count` of them; the same `key` gives the same ones again."""
        made = decisions((await self.client.send(calls.decide(self.name, count, key))).json())
        return made[0] if count is None else made

    async def observe(self, decision: Decision | int, losses: calls.Losses) -> Observed:
        """Report what a decision revealed: {arm or label: value}, or values in the order of `reveals`."""
        return await self.observe_all([(decision, losses)])

    async def observe_all(self, told: Iterable[tuple[Decision | int, calls.Losses]]) -> Observed:
        """Report what many decisions revealed."""
        found = [Observed(**(await self.client.send(call)).json()) for call in calls.observe(self.name, told)]
        return Observed(sum(each.accepted for each in found), sum(each.repeated for each in found))

    async def cancel(self, decision: Decision | int) -> None:
        """Nothing will come for this decision."""
        await self.client.send(calls.cancel(self.name, decision))

    async def show(self) -> dict[str, Any]:
        """The policy as it stands: round, open, probabilities, certificate, bound."""
        found: dict[str, Any] = (await self.client.send(calls.Call("GET", calls.policy(self.name)))).json()
        return found
