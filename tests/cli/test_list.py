"""`sidelight list`: every name, written as other commands read it."""

import json

import pytest

import sidelight as sl
from sidelight._formats import ENDINGS
from sidelight.environment import names as environments
from sidelight.experiment import claims
from sidelight.graph import families
from sidelight.planning import REALIZATIONS
from sidelight.policy import names as policies

EXPECTED = {
    "families": list(families.usages()),
    "policies": [*policies.names(), "FILE.py:NAME", "PLAN.json"],
    "environments": list(environments.usages()),
    "claims": list(claims.names()),
    "realizations": list(REALIZATIONS),
    "partitions": [name for name in dir(sl.partitions) if not name.startswith("search")],
    "formats": list(ENDINGS),
}


def test_everything(run):
    assert json.loads(run("list", "--json")[1]) == EXPECTED
    code, out, _ = run("list")
    assert code == 0
    for kind, names in EXPECTED.items():
        assert kind in out
        assert all(f"  {name}\n" in out for name in names)


@pytest.mark.parametrize("kind", EXPECTED)
def test_one_kind(run, kind):
    assert json.loads(run("list", kind, "--json")[1]) == {kind: EXPECTED[kind]}
    assert run("list", kind)[1].split("\n")[0] == kind


def test_an_unknown_kind(fails):
    fails("list", "colours", code=2)
