"""`sidelight serve` and `sidelight policies`, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner
from serving import ADMIN

from sidelight.cli.policies import command
from sidelight.errors import ServiceError


@pytest.fixture
def sidelight(service):
    """Run a command against the service; its output, or its error."""
    environment = {"SIDELIGHT_URL": str(service.http.base_url), "SIDELIGHT_TOKEN": ADMIN}

    def run(*words: str) -> str:
        result = CliRunner().invoke(command, words, env=environment, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    return run


def test_policies(sidelight, service, tmp_path):
    shown = sidelight("create", "prices", "cycle:6", "--rewards", "0", "25", "--seed", "3", "--expires", "60")
    assert "rewards in [0, 25]" in shown
    assert "6 arms" in shown
    service.decide("prices", count=2)
    assert json.loads(sidelight("show", "prices", "--json"))["open"] == 2
    assert "prices" in sidelight("list")
    assert [p["name"] for p in json.loads(sidelight("list", "--json"))["policies"]] == ["prices"]
    file = str(tmp_path / "prices.sidelight")
    sidelight("export", "prices", file)
    assert "2 open" in sidelight("import", "copy", file)
    sidelight("remove", "prices", "--yes")
    assert [p["name"] for p in json.loads(sidelight("list", "--json"))["policies"]] == ["copy"]
    with pytest.raises(ServiceError, match="no policy 'prices'"):
        sidelight("show", "prices")


def test_a_graph_from_a_file(sidelight, tmp_path):
    (tmp_path / "graph.csv").write_text("src,dst\nred,blue\nblue,red\n")
    shown = json.loads(sidelight("create", "colours", str(tmp_path / "graph.csv"), "--json"))
    assert shown["labels"] == ["red", "blue"]


def test_tokens(sidelight, service):
    token = sidelight("tokens", "create", "--scope", "read", "--note", "a look").strip()
    assert service.http.get("/v1/policies", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    (listed,) = json.loads(sidelight("tokens", "list", "--json"))["tokens"]
    assert "a look" in sidelight("tokens", "list")
    sidelight("tokens", "revoke", listed["id"])
    assert service.http.get("/v1/policies", headers={"Authorization": f"Bearer {token}"}).status_code == 401


@pytest.mark.slow
def test_from_nothing_to_a_service(tmp_path):
    """An empty folder: an address, a token, where data lie; a stop that drains; a second start without a token."""
    import httpx

    environment = {key: value for key, value in os.environ.items() if not key.startswith("SIDELIGHT_ADMIN")}
    environment["XDG_DATA_HOME"] = str(tmp_path)
    command = [sys.executable, "-m", "sidelight", "serve", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=environment, **pipes)
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        address, token = lines[0].split()[-1], lines[2].split()[-1]
        assert str(tmp_path / "sidelight" / "service.sqlite") in lines[1]
        headers = {"Authorization": f"Bearer {token}"}
        made = httpx.post(f"{address}/v1/policies", json={"name": "p", "graph": "full:3"}, headers=headers)
        assert made.status_code == 201
        again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert again.returncode == 1
        assert "in use by another service" in again.stderr
        assert "Traceback" not in again.stderr
        process.send_signal(signal.SIGTERM)
        out, log = process.communicate(timeout=60)
        assert process.returncode == 0, log
        assert out == ""
        messages = [json.loads(line)["message"] for line in log.splitlines()]
        told = [message for message in messages if not message.startswith("compiled")]
        assert told == ["started", "policy created", "stopped"]
        assert token.split("_", 2)[2] not in log
    finally:
        process.kill()
        process.communicate()
