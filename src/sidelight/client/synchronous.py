"""A client that waits for answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from sidelight.client import calls
from sidelight.client.answers import Decision, Observed, decisions

if TYPE_CHECKING:
    import httpx

    from sidelight.graph import FeedbackGraph
    from sidelight.log import Log


class Client:
    """The service at `url`. Requests that get no answer are sent again, which changes nothing twice."""

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0, tries: int = 8) -> None:
        self.url, self.tries = calls.address(url), tries
        self._http = calls.http_library().Client(
            base_url=self.url, headers=calls.headers(token), timeout=timeout
        )

    def send(self, call: calls.Call) -> httpx.Response:
        """One request, as often as it takes."""
        import httpx

        for attempt in range(self.tries):
            answer = None
            try:
                answer = self._http.request(
                    call.method, call.path, json=call.json, params=dict(call.query), headers=dict(call.headers),
                    content=call.content,
                )  # fmt: skip
                if attempt + 1 == self.tries or not calls.again(answer):
                    return calls.checked(answer)
            except httpx.TransportError as error:
                if attempt + 1 == self.tries:
                    raise calls.unreachable(self.url, error) from error
            time.sleep(calls.wait(attempt, answer))
        raise AssertionError("unreachable")

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
        self.send(calls.create(name, graph, options))
        return RemotePolicy(self, name)

    def policy(self, name: str) -> RemotePolicy:
        """A policy that exists; nothing is asked yet."""
        return RemotePolicy(self, name)

    def policies(self) -> Iterator[dict[str, Any]]:
        """All policies as they stand, in the order of their names."""
        after: str | None = ""
        while after is not None:
            body = self.send(calls.Call("GET", "/v1/policies", query={"after": after})).json()
            yield from body["policies"]
            after = body["next"]

    def bring(self, name: str, path: str | PathLike[str]) -> RemotePolicy:
        """Import what `export` has written, under this name."""
        data = Path(path).read_bytes()
        self.send(calls.Call("POST", f"{calls.policy(name)}/import", content=data))
        return RemotePolicy(self, name)

    # -- tokens ----------------------------------------------------------------------------------------

    def create_token(
        self, scopes: Iterable[str], policy: str | None = None, note: str = ""
    ) -> dict[str, Any]:
        """A new token; its `token` is shown this once."""
        body = {"scopes": list(scopes), "policy": policy, "note": note}
        answer: dict[str, Any] = self.send(calls.Call("POST", "/v1/tokens", body)).json()
        return answer

    def tokens(self) -> list[dict[str, Any]]:
        """All tokens, without their secrets."""
        found: list[dict[str, Any]] = self.send(calls.Call("GET", "/v1/tokens")).json()["tokens"]
        return found

    def revoke(self, token: str) -> None:
        """The token of this id is good no longer."""
        self.send(calls.Call("DELETE", f"/v1/tokens/{token}"))

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
    def decide(self, *, count: int | None = None, key: str | None = None) -> Decision | list[Decision]:
        """The next arm to play, or the next `count` of them; the same `key` gives the same ones again."""
        made = decisions(self.client.send(calls.decide(self.name, count, key)).json())
        return made[0] if count is None else made

    def observe(self, decision: Decision | int, losses: calls.Losses) -> Observed:
        """Report what a decision revealed: {arm or label: value}, or values in the order of `reveals`."""
        return self.observe_all([(decision, losses)])

    def observe_all(self, told: Iterable[tuple[Decision | int, calls.Losses]]) -> Observed:
        """Report what many decisions revealed."""
        found = [Observed(**self.client.send(call).json()) for call in calls.observe(self.name, told)]
        return Observed(sum(each.accepted for each in found), sum(each.repeated for each in found))

    def cancel(self, decision: Decision | int) -> None:
        """Nothing will come for this decision."""
        self.client.send(calls.cancel(self.name, decision))

    def show(self) -> dict[str, Any]:
        """The policy as it stands: round, open, probabilities, certificate, bound."""
        found: dict[str, Any] = self.client.send(calls.Call("GET", calls.policy(self.name))).json()
        return found

    def log(self) -> Log:
        """Everything that was answered, for `sl.evaluate`."""
        import tempfile

        from sidelight.log import Log

        query = {"format": "parquet"}
        answer = self.client.send(calls.Call("GET", f"{calls.policy(self.name)}/log", query=query))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.parquet"
            path.write_bytes(answer.content)
            return Log.read(path)

    def export(self, path: str | PathLike[str]) -> None:
        """Write everything about the policy to a file, whole or not at all."""
        from sidelight._files import replacing

        answer = self.client.send(calls.Call("GET", f"{calls.policy(self.name)}/export"))
        with replacing(Path(path), pack=False) as stream:
            stream.write(answer.content)

    def remove(self) -> None:
        """Delete the policy and all its events."""
        self.client.send(calls.Call("DELETE", calls.policy(self.name)))
