"""What stands in deploy/: its commands exist, and the steps of the image work without an engine for containers."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from importlib import import_module
from pathlib import Path

import pytest

from sidelight.service.app import ROUTES
from sidelight.service.store.base import make_store

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"


def parsed(words):
    """A command line of ours, as the command reads it: (name, options); raises where it does not understand."""
    assert words[0].endswith("sidelight")
    command = import_module(f"sidelight.cli.{words[1]}").command
    return words[1], command.make_context(words[1], list(words[2:])).params


def instructions():
    """(instruction, rest) of the Dockerfile, in order."""
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]


def settings():
    """What the image sets in the environment."""
    return dict(word.split("=", 1) for kind, rest in instructions() if kind == "ENV" for word in rest.split())


def test_the_image():
    steps = instructions()
    kinds = [kind for kind, _ in steps]
    assert "slim" in steps[0][1]
    assert steps[[*kinds].index("USER")] == ("USER", "sidelight")
    warm = steps.index(("RUN", "sidelight warmup"))
    assert kinds.index("USER") < warm  # the user who runs it can read what was compiled
    start = json.loads(dict(steps)["ENTRYPOINT"]) + json.loads(dict(steps)["CMD"])
    assert parsed(start)[1]["host"] == "0.0.0.0"
    assert parsed(["sidelight", "warmup"])
    store, volume = settings()["SIDELIGHT_STORE"], dict(steps)["VOLUME"]
    assert make_store(store).path.parent == Path(volume)
    port = int(dict(steps)["EXPOSE"])
    assert parsed(["sidelight", "serve"])[1]["port"] == port
    assert f":{port}/healthz" in dict(steps)["HEALTHCHECK"].split("CMD")[1]
    extra = re.search(r"/source\[(\w+)\]", " ".join(rest for _, rest in steps))[1]
    assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text()
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert all((ROOT / name[1:]).exists() for name in kept if name.startswith("!"))


def test_compose(monkeypatch):
    yaml = pytest.importorskip("yaml")
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = document["services"]
    ours = {name: service for name, service in services.items() if service.get("image") == "sidelight"}
    assert len(ours) == 2
    for name, service in ours.items():
        options = parsed(["sidelight", *service["command"]])[1]
        assert options["advertise"] == f"http://{name}:{options['port']}"
        assert service["environment"]["SIDELIGHT_STORE"].startswith("postgresql://")
        assert "SIDELIGHT_ADMIN_TOKEN" in service["environment"]
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()
        assert set(service["depends_on"]) <= set(services)
        assert "ports" not in service  # nothing but the proxy is reached from outside
    proxy = (DEPLOY / "Caddyfile").read_text()
    assert all(f"{name}:8383" in proxy for name in ours)
    assert "/readyz" in proxy


def test_the_proxy_sends_a_policy_to_one_process():
    """Every route of a policy is hashed by the name of the policy, and no other route by anything."""
    proxy = (DEPLOY / "Caddyfile").read_text()
    (pattern,) = re.findall(r"@policy path_regexp policy (\S+)", proxy)
    assert "request_header @policy X-Sidelight-Policy {re.policy.1}" in proxy
    assert re.search(r"lb_policy header X-Sidelight-Policy \{\s+fallback first\s+\}", proxy)
    for route in ROUTES:
        found = re.search(pattern, route.path.format(name="prices", id="1", file="live.js"))
        assert (found and found[1]) == ("prices" if "{name}" in route.path else None), route.path


def test_the_unit(tmp_path):
    unit = (DEPLOY / "sidelight.service").read_text()
    found = dict(re.findall(r"^(\w+)=(.*)$", unit, re.M))
    assert parsed(shlex.split(found["ExecStartPre"]))[0] == "warmup"
    assert parsed(shlex.split(found["ExecStart"]))[1]["host"] == "127.0.0.1"
    environment = dict(word.split("=", 1) for word in found["Environment"].split())
    assert make_store(environment["SIDELIGHT_STORE"]).path.parent == Path("/var/lib", found["StateDirectory"])
    assert found["DynamicUser"] == "yes"


def test_they_are_documented():
    page = (ROOT / "docs" / "service.md").read_text()
    for path in DEPLOY.iterdir():
        assert f"deploy/{path.name}" in page or path.suffix == ".dockerignore", path


@pytest.mark.full
def test_the_steps_of_the_image_in_an_empty_folder(tmp_path):
    """Build, warm-up, start and health as the Dockerfile says, with its paths moved here and an empty environment."""
    places = {
        "/opt/sidelight": tmp_path / "opt",
        "/data": tmp_path / "data",
        "/var/cache/sidelight": tmp_path / "kernels",
    }
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "src"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    places["/source"] = source

    def moved(text):
        for there, here in places.items():
            text = re.sub(rf"{there}(?![\w.])", str(here), text)
        return text

    for folder in (places["/data"], places["/var/cache/sidelight"]):
        folder.mkdir()
    known = {name: moved(value) for name, value in settings().items()}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    keep = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_", "REQUESTS_", "HTTP"))
    }
    environment = {**keep, "PATH": path, "HOME": str(tmp_path)}
    for kind, rest in instructions():
        if kind == "ENV":
            environment |= {**known, "PATH": known["PATH"].replace("$PATH", path)}
        elif kind == "RUN" and not rest.startswith("useradd"):
            subprocess.run(["sh", "-ec", moved(rest)], env=environment, cwd=tmp_path, check=True)
    steps = dict(instructions())
    start = [
        *json.loads(steps["ENTRYPOINT"]),
        *json.loads(steps["CMD"]),
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--json",
    ]
    start[0] = str(places["/opt/sidelight"] / "bin" / start[0])
    with subprocess.Popen(start, env=environment, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        try:
            told = json.loads(process.stdout.readline())
            assert told["store"] == f"sqlite:///{places['/data']}/service.sqlite"
            check = shlex.split(steps["HEALTHCHECK"].split("CMD ")[1])
            assert "healthz" in " ".join(check)
            with urllib.request.urlopen(f"{told['address']}/healthz", timeout=30) as answer:
                assert answer.status == 200
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()
