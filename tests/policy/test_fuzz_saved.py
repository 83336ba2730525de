"""Saved policies altered in every way we can think of, with digests that fit: refused with a reason, or played on.

`make fuzz` runs the same with more files: SIDELIGHT_FUZZ says how many, SIDELIGHT_FUZZ_SEED from which seed.
"""

import faulthandler
import os
import resource
from collections import Counter

import numpy as np
import pytest
from policy_kinds import KINDS
from saved_files import forge
from saved_fuzz import MUTATIONS, changing_sources, mutated, outcome, sources

FILES = int(os.environ.get("SIDELIGHT_FUZZ", "600"))
SEED = int(os.environ.get("SIDELIGHT_FUZZ_SEED", "0"))
HANGS = 120.0
"""Seconds for one file, after which the process ends with a traceback: machine code cannot be interrupted."""
MOST_MEMORY = 700 * 2**20
"""Bytes by which the process may grow."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """One or three files of every kind, each played on from once: what is slow later is not the compiler."""
    made = sources(KINDS, (0, 1, 40) if FILES > 1000 else (30,)) + changing_sources()
    path = tmp_path_factory.mktemp("fuzz") / "intact"
    for name, (header, arrays) in made:
        forge(path, header, arrays)
        assert outcome(path, name).accepted
    return made


@pytest.fixture
def watched():
    yield lambda: faulthandler.dump_traceback_later(HANGS, exit=True)
    faulthandler.cancel_dump_traceback_later()


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_altered_files_are_refused_or_played_on(saved, watched, tmp_path):
    rng, path = np.random.default_rng(SEED), tmp_path / "fuzzed"
    before, wrong, counts = peak(), [], Counter()
    for index in range(FILES):
        name, (header, arrays) = saved[rng.integers(len(saved))]
        what, data = mutated(rng, header, arrays)
        path.write_bytes(data)
        watched()
        found = outcome(path, f"file {index} of seed {SEED}, {name}: {what}")
        counts["accepted" if found.accepted else "refused"] += 1
        if found.wrong:
            wrong.append(f"{found.what}: {found.wrong}")
    grown = peak() - before
    print(f"\n{FILES} altered files: {dict(counts)}, {len(wrong)} wrong, {grown / 2**20:.0f} MiB more memory")
    assert not wrong, "\n".join(wrong[:20])
    assert grown < MOST_MEMORY
    assert min(counts["accepted"], counts["refused"]) > FILES / 10  # both sides of the line are met


def test_every_mutation_is_tried_on_every_kind_of_file(saved, watched, tmp_path):
    """Each in turn, so that none depends on luck; the heaviest once."""
    rng, path = np.random.default_rng(SEED + 1), tmp_path / "fuzzed"
    wrong = []
    for index, mutate in enumerate(MUTATIONS):
        for name, (header, arrays) in saved[index % 7 :: 7]:
            what, data = mutated(rng, header, arrays, mutate)
            path.write_bytes(data)
            watched()
            found = outcome(path, f"{name}: {what}")
            wrong += [f"{found.what}: {found.wrong}"] if found.wrong else []
    assert not wrong, "\n".join(wrong[:20])
