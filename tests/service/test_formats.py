"""Stores of every version of the format are opened, and go on.

`data/format-N.db.gz` was written by the version of Sidelight that brought format N, and stopped gracefully;
`data/format-N.json` says what its policy showed. Never write them anew: a format that changes gets another file.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from serving import Clock, running

from sidelight.service.access import Limits
from sidelight.service.events import Kind
from sidelight.service.served import Served

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("format-*.json")))
def test_a_store_of_an_earlier_version(tmp_path, name):
    known = json.loads((DATA / f"{name}.json").read_text())
    path = tmp_path / "service.db"
    path.write_bytes(gzip.decompress((DATA / f"{name}.db.gz").read_bytes()))
    with running(path, clock=Clock(1_000_002.0)) as service:
        assert any(event.kind == Kind.SAVED for event in service.service.store.events(1))
        shown = service.show()
        for key in ("decided", "round", "open", "cancelled", "expired", "labels", "unit", "expires"):
            assert shown[key] == known[key]
        assert shown["probabilities"] == pytest.approx(known["probabilities"], rel=1e-9)
        assert shown["certificate"]["value"] == pytest.approx(known["certificate"]["value"], rel=1e-9)
        assert service.decide(key="first", count=20) == known["first"]
        reader = {"Authorization": f"Bearer {known['token']}"}
        assert service.http.get("/v1/policies/p", headers=reader).status_code == 200
        (decision,) = service.decide()
        assert decision["id"] == known["decided"] + 1
        assert service.tell((decision["id"], [2.5]), (8, [2.5])).json() == {"accepted": 2, "repeated": 0}
    with running(path, clock=Clock(1_000_003.0)) as service:
        assert service.show()["open"] == known["open"] - 1


def test_snapshots_that_were_events_are_skipped(sqlite):
    """Of format 1 before saving changed nothing: the event stays in the log and its checksums, and does nothing."""
    with running(sqlite) as service:
        service.create()
        service.decide(count=2)
        served, store = service.service.policies.served["p"], service.service.store
        served._note(Kind.SAVED, 0, b"")
        service.decide()
        again = Served.restored(
            served.row, next(store.snapshots(served.row.id)), store.events(served.row.id), Limits()
        )
        assert (again.seq, again.check, again.open) == (served.seq, served.check, served.open)
        assert again.policy.to_bytes() == served.policy.to_bytes()
