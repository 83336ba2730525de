"""kill −9 under load, again and again: what was answered is there, once, and the log leads to the state.

Clients remember every answer. After the last kill the whole store is compared with what they remember, and a policy
that the library alone feeds the whole log from its first event must have the bytes that the service restores.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field

from benchmarks.service.load import Connection, ask, run
from benchmarks.service.serving import How, Process

from sidelight.policy import Policy
from sidelight.service.access import Limits
from sidelight.service.events import Kind, read_decided, read_observed
from sidelight.service.served import Served
from sidelight.service.store.base import make_store

GRAPH = "cycle:20"


@dataclass
class Memory:
    """What clients were answered, and what they were not."""

    made: dict[str, list[int]] = field(default_factory=dict)  # key: id, arm, id, arm, …
    told: dict[int, list[float]] = field(default_factory=dict)
    unsure_keys: list[str] = field(default_factory=list)
    unsure: list[tuple[int, list[float]]] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """What is left after all kills."""

    kills: int
    decisions: int
    observations: int
    stored_only: int  # on the disk, but not answered when the process was killed: asked again
    lost: int
    twice: int
    identical: bool


def killed(store: str, kills: int, connections: int = 8, seconds: float = 0.3) -> Outcome:
    """Start, load, kill, `kills` times; then look."""
    memory, rng, stored_only = Memory(), random.Random(1), 0
    how = How(options=(("snapshot_every", 500),))
    for life in range(kills + 1):
        with Process(store, how) as process:
            if life == 0:
                ask(process.address, "POST", "/v1/policies", {"name": "p", "graph": GRAPH, "seed": 1})
            stored_only += run(lambda address=process.address: _asked_again(address, memory))
            if life < kills:
                wait = rng.uniform(0.02, seconds)
                run(
                    lambda process=process, life=life, wait=wait: _until_killed(
                        process, memory, connections, life, wait
                    )
                )
            else:
                process.stop()
    return _compared(store, memory, kills, stored_only)


async def _until_killed(process: Process, memory: Memory, connections: int, life: int, wait: float) -> None:
    async def killer() -> None:
        began, before = time.monotonic(), len(memory.told)
        while len(memory.told) < before + 5 and time.monotonic() < began + 30:
            await asyncio.sleep(0.01)
        await asyncio.sleep(wait)
        await asyncio.to_thread(process.kill)

    shoppers = (_shopper(process.address, memory, f"{life}-{number}") for number in range(connections))
    await asyncio.gather(killer(), *shoppers)


async def _shopper(address: str, memory: Memory, name: str) -> None:
    rng, turn, connection = random.Random(name), 0, Connection(address)
    path = "/v1/policies/p"
    while True:
        turn += 1
        key, count = f"{name}-{turn}", rng.randint(1, 3)
        key = f"{key}-{count}"
        try:
            made = (await connection.json("POST", f"{path}/decisions", {"count": count}, key))["decisions"]
        except (OSError, EOFError):
            memory.unsure_keys.append(key)
            return
        memory.made[key] = [number for decision in made for number in (decision["id"], decision["arm"])]
        for decision in made:
            losses = [rng.random() for _ in decision["reveals"]]
            body = {"observations": [{"decision": decision["id"], "losses": losses}]}
            try:
                await connection.json("POST", f"{path}/observations", body)
            except (OSError, EOFError):
                memory.unsure.append((decision["id"], losses))
                return
            memory.told[decision["id"]] = losses


async def _asked_again(address: str, memory: Memory) -> int:
    """What was not answered is asked again; how much of it was stored already."""
    connection, path, known = Connection(address), "/v1/policies/p", 0
    for key in memory.unsure_keys:
        before = (await connection.json("GET", path))["decided"]
        count = int(key.rsplit("-", 1)[1])
        made = (await connection.json("POST", f"{path}/decisions", {"count": count}, key))["decisions"]
        memory.made[key] = [number for decision in made for number in (decision["id"], decision["arm"])]
        known += made[0]["id"] <= before
    for number, losses in memory.unsure:
        body = {"observations": [{"decision": number, "losses": losses}]}
        known += (await connection.json("POST", f"{path}/observations", body))["repeated"]
        memory.told[number] = losses
    memory.unsure_keys.clear()
    memory.unsure.clear()
    connection.close()
    return known


def _compared(address: str, memory: Memory, kills: int, stored_only: int) -> Outcome:
    store = make_store(address)
    store.open()
    try:
        row = store.row("p")
        assert row is not None
        first = list(store.snapshots(row.id))[-1]
        newest = next(iter(store.snapshots(row.id)))
        twin = Policy.from_bytes(first.data)
        arms: dict[int, list[int]] = {}
        answers: dict[int, list[list[float]]] = {}
        for event in store.events(row.id):
            if event.kind == Kind.DECIDED:
                arms.setdefault(event.decision, []).append(read_decided(event.body).arm)
                twin.decide()
            elif event.kind == Kind.OBSERVED:
                values = read_observed(event.body)[1]
                answers.setdefault(event.decision, []).append(values.tolist())
                twin.observe(event.decision, values)
        restored = Served.restored(row, newest, store.events(row.id, newest.seq), Limits())
    finally:
        store.close()
    made = [pair for each in memory.made.values() for pair in zip(each[::2], each[1::2], strict=True)]
    lost = sum(arms.get(number) != [arm] for number, arm in made)
    lost += sum(losses not in answers.get(number, []) for number, losses in memory.told.items())
    twice = sum(len(each) > 1 for each in (*arms.values(), *answers.values()))
    twice += len(made) - len({number for number, _ in made})
    same = restored.policy.to_bytes() == twin.to_bytes()
    return Outcome(kills, len(made), len(memory.told), stored_only, lost, twice, same)
