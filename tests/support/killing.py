"""Services that are killed while they work, and clients that remember what they were answered."""

from __future__ import annotations

import random
import ssl
import threading
import time

import httpx
from serving import ADMIN, Process, replayed

from sidelight.service.store.base import make_store

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Without certificates, which take longer to read than a service takes to start."""


class Shopper(threading.Thread):
    """Asks and tells without a pause, remembers what was answered, and repeats what was not."""

    def __init__(self, address: str, number: int) -> None:
        super().__init__()
        self.address, self.number = address, number
        self.made: dict[str, list[dict]] = {}  # key: decisions that were answered
        self.told: dict[int, list[float]] = {}  # decision: losses that were answered
        self.unsure: list[tuple[int, list[float]]] = []
        self.open_keys: list[str] = []

    def run(self) -> None:
        rng = random.Random(self.number)
        headers = {"Authorization": f"Bearer {ADMIN}"}
        with httpx.Client(base_url=self.address, headers=headers, timeout=30, verify=PLAIN) as http:
            try:
                for turn in range(10_000):
                    self._turn(http, rng, f"{self.number}-{time.time_ns()}-{turn}")
            except httpx.TransportError:
                return

    def _turn(self, http: httpx.Client, rng: random.Random, key: str) -> None:
        self.open_keys.append(key)
        answer = http.post("/v1/policies/p/decisions", json={"count": 2}, headers={"Idempotency-Key": key})
        assert answer.status_code == 201, answer.text
        self.made[key] = answer.json()["decisions"]
        self.open_keys.pop()
        for decision in self.made[key]:
            losses = [rng.random() for _ in decision["reveals"]]
            self.unsure.append((decision["id"], losses))
            body = {"observations": [{"decision": decision["id"], "losses": losses}]}
            answer = http.post("/v1/policies/p/observations", json=body)
            assert answer.status_code == 200, answer.text
            self.told[decision["id"]] = losses
            self.unsure.pop()


def killed_under_load(store: str, kills: int, seconds: float = 0.05) -> None:
    """Kill a service `kills` times: nothing answered is lost, nothing counts twice, the log leads to its state."""
    made: dict[str, list[dict]] = {}
    told: dict[int, list[float]] = {}
    shoppers: list[Shopper] = []
    for life in range(kills + 1):
        process = Process(store)
        try:
            headers = {"Authorization": f"Bearer {ADMIN}"}
            with httpx.Client(base_url=process.address, headers=headers, timeout=60, verify=PLAIN) as http:
                if life == 0:
                    made_it = http.post("/v1/policies", json={"name": "p", "graph": "cycle:8", "seed": 1})
                    assert made_it.status_code == 201
                else:
                    check(http, shoppers, made, told)
                if life == kills:
                    assert process.stop() == 0
                    break
            shoppers = [Shopper(process.address, life * 10 + number) for number in range(3)]
            for shopper in shoppers:
                shopper.start()
            while sum(len(shopper.told) for shopper in shoppers) < 20:
                time.sleep(0.01)
            time.sleep(random.Random(life).uniform(0.0, seconds))
        finally:
            process.kill()
        for shopper in shoppers:
            shopper.join()
            made |= shopper.made
            told |= shopper.told
    numbers = [decision["id"] for decisions in made.values() for decision in decisions]
    assert len(numbers) == len(set(numbers)) > 0
    assert set(told) <= set(numbers)
    twin = replayed(store)
    reopened = make_store(store)
    reopened.open()
    try:
        assert max(numbers) <= twin.round + len(twin.open)
        ends = reopened.find_ends(1, list(told)[:500])
        assert set(ends) == set(list(told)[:500])
    finally:
        reopened.close()


def check(http: httpx.Client, shoppers: list[Shopper], made: dict, told: dict) -> None:
    """Everything that was answered is there, and what was not answered can be repeated."""
    for key, decisions in list(made.items())[-40:]:
        again = http.post("/v1/policies/p/decisions", json={"count": 2}, headers={"Idempotency-Key": key})
        assert again.json()["decisions"] == decisions
    items = [{"decision": number, "losses": losses} for number, losses in list(told.items())[-500:]]
    if items:
        answer = http.post("/v1/policies/p/observations", json={"observations": items})
        assert answer.json() == {"accepted": 0, "repeated": len(items)}, answer.text
    for shopper in shoppers:
        for number, losses in shopper.unsure:
            body = {"observations": [{"decision": number, "losses": losses}]}
            answer = http.post("/v1/policies/p/observations", json=body).json()
            assert answer["accepted"] + answer["repeated"] == 1
            told[number] = losses
        for key in shopper.open_keys:
            post = http.post("/v1/policies/p/decisions", json={"count": 2}, headers={"Idempotency-Key": key})
            made[key] = post.json()["decisions"]
