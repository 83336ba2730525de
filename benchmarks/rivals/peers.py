"""Other libraries, each in a virtual environment of its own, doing the job nearest to ours that they have.

Run by the interpreter of a peer's environment, this file measures it and prints JSON, so it imports nothing but
the standard library and, inside a function, the peer:

    python peers.py river 100 2.0     (peer, arms, seconds)

A round is one decision, one Bernoulli reward (mean ½, one arm better), one update. Time is processor time.
"""

import json
import os
import random
import subprocess
import sys
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve()
FOLDER = HERE.parents[2] / ".benchmarks" / "peers"

REQUIREMENTS = {
    "river": ["river"],
    "pymab": ["pymab"],
    "smpybandits": ["SMPyBandits==0.9.7", "scipy==1.11.4", "numpy<2", "setuptools"],
    "vowpalwabbit": ["vowpalwabbit"],
}
"""SMPyBandits needs `scipy.special.btdtri`, which later versions of SciPy do not have."""

JOBS = {
    "river Exp3": ("river", "C", (10, 100, 1_000)),
    "PyMAB EXP3": ("pymab", "C", (10, 100, 1_000)),
    "PyMAB EXP3, compiled part alone": ("pymab", "C", (10, 100, 1_000)),
    "SMPyBandits Exp3": ("smpybandits", "C", (10, 100, 1_000)),
    "SMPyBandits Tsallis-INF": ("smpybandits", "C", (10, 100, 1_000)),
    "Vowpal Wabbit graph feedback": ("vowpalwabbit", "B", (10,)),
}
"""Name: environment, the instance of ours that is the same job, numbers of arms."""


# -- in our process: install and start ----------------------------------------------------------------


def interpreter(environment):
    return FOLDER / environment / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(environment):
    """Make the environment of a peer unless it is there; return why that is impossible, or ''."""
    ready = FOLDER / environment / ".ready"
    if ready.exists():
        return ""
    venv.EnvBuilder(with_pip=True, clear=True).create(FOLDER / environment)
    command = [interpreter(environment), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *REQUIREMENTS[environment]], capture_output=True, text=True)
    if done.returncode:
        return last_line(done.stderr)
    ready.touch()
    return ""


def measure(job, n, seconds, may_install):
    """{"rounds", "seconds", "version"} of a peer, or {"missing": why}."""
    environment = JOBS[job][0]
    if may_install:
        problem = install(environment)
        if problem:
            return {"missing": f"not installable: {problem}"}
    if not (FOLDER / environment / ".ready").exists():
        return {"missing": "not installed; run with --peers"}
    done = subprocess.run(
        [interpreter(environment), HERE, job, str(n), str(seconds)], capture_output=True, text=True
    )
    if done.returncode:
        return {"missing": f"does not run: {last_line(done.stderr)}"}
    return json.loads(done.stdout.splitlines()[-1])


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"


# -- in the peer's process: play ----------------------------------------------------------------------


def reward_means(n):
    means = [0.5] * n
    means[n // 3] = 0.7
    return means


def until(seconds, play, least_calls=3):
    """Call play() (which returns the rounds it played) for so long; the first call is a warm-up."""
    play()
    rounds = calls = 0
    before = time.process_time()
    while (spent := time.process_time() - before) < seconds or calls < least_calls:
        rounds += play()
        calls += 1
    return {"rounds": rounds, "seconds": spent}


def river(n, seconds):
    from river import bandit

    policy = bandit.Exp3(gamma=0.1, seed=1)
    arms, means = list(range(n)), reward_means(n)

    def play():
        for _ in range(20):
            arm = policy.pull(arms)
            policy.update(arm, 1.0 if random.random() < means[arm] else 0.0)
        return 20

    return until(seconds, play)


def pymab(n, seconds):
    """Its public way: the simulation is compiled, its table of rounds × arms is then checked in Python."""
    from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig
    from pymab.policies import EXP3Policy

    rounds = max(1_000, 1_000_000 // n)  # of a table that is not too large

    def play():
        Experiment(
            environment=BanditEnvironment(means=reward_means(n), reward_model=BernoulliReward()),
            policies={"exp3": EXP3Policy(n_arms=n, gamma=0.1)},
            config=ExperimentConfig(horizon=rounds, n_replicates=1, seed=1),
        ).run()
        return rounds

    return until(seconds, play)


def pymab_core(n, seconds):
    """What it could do: the compiled simulation without the checks, through a private function of version 2."""
    from pymab import BanditEnvironment, BernoulliReward
    from pymab._backend import run_native_experiment
    from pymab.policies import EXP3Policy

    rounds = max(1_000, 1_000_000 // n)
    environment = BanditEnvironment(means=reward_means(n), reward_model=BernoulliReward())

    def play():
        run_native_experiment(
            environment=environment,
            policies={"exp3": EXP3Policy(n_arms=n, gamma=0.1)},
            horizon=rounds,
            n_replicates=1,
            seed=1,
            reward_coupling="common",
            record_contexts=False,
        )
        return rounds

    return until(seconds, play)


def smpybandits(make):
    def measured(n, seconds):
        policy, means = make(n), reward_means(n)
        policy.startGame()

        def play():
            for _ in range(20):
                arm = policy.choice()
                policy.getReward(arm, 1.0 if random.random() < means[arm] else 0.0)
            return 20

        for _ in range(n // 20 + 1):  # it plays every arm once before anything else
            play()
        return until(seconds, play)

    return measured


def smpybandits_exp3(n, seconds):
    from SMPyBandits.Policies import Exp3

    return smpybandits(lambda arms: Exp3(arms, gamma=0.1))(n, seconds)


def smpybandits_tsallis(n, seconds):
    from SMPyBandits.Policies.TsallisInf import TsallisInf

    return smpybandits(TsallisInf)(n, seconds)


def vowpal_wabbit(n, seconds):
    """A cycle in which every arm reveals its two neighbours, as in instance B."""
    from vowpalwabbit import Workspace

    workspace = Workspace("--cb_explore_adf --graph_feedback --quiet")
    means = [1.0 - mean for mean in reward_means(n)]
    edges = " ".join(f"{i},{(i + step) % n},1" for i in range(n) for step in (-1, 1))
    example = [f"shared graph {edges} | all", *(f"| arm{i}" for i in range(n))]

    def play():
        shares = workspace.predict(example)
        arm = random.choices(range(n), weights=shares)[0]
        told = list(example)
        for seen in ((arm - 1) % n, (arm + 1) % n):
            loss = 1.0 if random.random() < means[seen] else 0.0
            probability = shares[(seen - 1) % n] + shares[(seen + 1) % n]
            told[1 + seen] = f"{seen}:{loss}:{max(probability, 1e-6)} | arm{seen}"
        workspace.learn(told)
        return 1

    return until(seconds, play)


RUNNERS = {
    "river Exp3": river,
    "PyMAB EXP3": pymab,
    "PyMAB EXP3, compiled part alone": pymab_core,
    "SMPyBandits Exp3": smpybandits_exp3,
    "SMPyBandits Tsallis-INF": smpybandits_tsallis,
    "Vowpal Wabbit graph feedback": vowpal_wabbit,
}


def main():
    from importlib.metadata import version

    job, n, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    random.seed(1)
    print(json.dumps(RUNNERS[job](n, seconds) | {"version": version(JOBS[job][0])}))


if __name__ == "__main__":
    main()
