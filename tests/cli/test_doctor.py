"""`sidelight doctor`: healthy here, and not fooled by what is broken."""

import json
import subprocess
import sys

import pytest

from sidelight.cli import doctor


def found(run, *arguments):
    code, out, err = run("doctor", *arguments, "--json")
    assert err == ""
    answer = json.loads(out)
    assert answer["healthy"] == (code == 0)
    return code, {finding["name"]: finding for finding in answer["findings"]}


def test_here_everything_works(run):
    code, findings = found(run)
    assert code == 0
    expected = {
        "python",
        "sidelight",
        "numpy",
        "numba",
        "click",
        "cores",
        "memory",
        "kernels",
        "kernel cache",
    }
    assert expected | {"pyarrow", "distributed", "this folder", "temporary files", "self-check"} <= set(
        findings
    )
    assert findings["self-check"]["state"] == "ok"
    assert "1,000 rounds" in findings["self-check"]["detail"]
    code, out, _ = run("doctor", "--no-run")
    assert code == 0
    assert "everything essential works" in out
    assert "self-check" not in out


def test_every_requirement_is_looked_at():
    names = [name for name, _ in doctor.requirements()]
    assert {"numpy", "scipy", "numba", "click", "rich", "matplotlib"} <= set(names)
    assert "pytest" not in names


def test_a_missing_extra_is_a_note_with_what_to_do(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, findings = found(run, "--no-run")
    assert code == 0
    assert findings["distributed"]["state"] == "note"
    assert "pip install 'sidelight[cluster]'" in findings["distributed"]["detail"]


def test_a_missing_requirement_is_broken(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    code, findings = found(run, "--no-run")
    assert code == 3
    assert findings["networkx"]["state"] == "broken"
    assert "1 essential" in run("doctor", "--no-run")[1]


def test_a_requirement_that_is_too_old(run, monkeypatch):
    monkeypatch.setattr(doctor, "requirements", lambda: [("numpy", "99.1")])
    code, findings = found(run, "--no-run")
    assert code == 3
    assert "pip install 'numpy>=99.1'" in findings["numpy"]["detail"]


def test_a_self_check_that_fails(run, monkeypatch):
    monkeypatch.setattr("sidelight.planning.bounds.checker.check_certificate", lambda plan: 1 / 0)
    monkeypatch.setattr("sidelight.check_certificate", lambda plan: 1 / 0, raising=False)
    code, findings = found(run)
    assert code == 3
    assert "ZeroDivisionError" in findings["self check"]["detail"]


def test_without_numpy_it_still_answers():
    """The doctor is needed most where little works: it must not import what it examines before it starts."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from click.testing import CliRunner; from sidelight.cli.main import cli\n"
        "done = CliRunner().invoke(cli, ['doctor', '--json'])\n"
        "print(done.exit_code); print(done.output)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    exit_code, _, answer = done.stdout.partition("\n")
    assert exit_code == "3", done.stderr
    broken = {finding["name"] for finding in json.loads(answer)["findings"] if finding["state"] == "broken"}
    assert {"numpy", "numba", "kernels", "self check"} <= broken


def test_an_unwritable_folder_is_a_note(run, monkeypatch):
    monkeypatch.chdir("/proc")
    _, findings = found(run, "--no-run")
    assert findings["this folder"]["state"] == "note"
    assert "-o" in findings["this folder"]["detail"]


@pytest.mark.parametrize(("older", "newer"), [("1.9", "1.10"), ("8.1.7", "8.2"), ("2.0.0rc1", "2.1")])
def test_versions_are_compared_as_numbers(older, newer):
    assert doctor._order(older) < doctor._order(newer)


def test_a_store_is_checked_page_by_page(run, tmp_path):
    pytest.importorskip("msgspec")
    from sidelight.service.store.sqlite import SqliteStore

    file = tmp_path / "service.db"
    store = SqliteStore(file)
    store.open()
    for number in range(300):
        store.create(f"policy-{number}", {"created": 0.0}, [])
    store.close()
    code, findings = found(run, "--no-run", "--store", str(file))
    assert (code, findings["store"]["state"]) == (0, "ok")
    assert "300 policies" in findings["store"]["detail"]
    data = bytearray(file.read_bytes())
    data[-2000:] = bytes(2000)
    file.write_bytes(data)
    code, findings = found(run, "--no-run", "--store", str(file))
    assert (code, findings["store"]["state"]) == (doctor.BROKEN, "broken")
    assert "damaged" in findings["store"]["detail"]


def test_a_store_that_is_not_there(run, tmp_path):
    code, findings = found(run, "--no-run", "--store", str(tmp_path / "none.db"))
    assert code == doctor.BROKEN
    assert "does not exist" in findings["store"]["detail"]
