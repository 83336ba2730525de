"""Programs that ctrl-C can stop, also when the test-suite itself runs in the background and ignores it."""

import os
import signal
import subprocess
import time


def listening():
    """For `preexec_fn`: what a shell in the background switches off is on again in the child."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(command, ready, group=False):
    """Run a command, interrupt it once `ready()` says so, and wait: (exit code, output, errors)."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **pipes, start_new_session=group, preexec_fn=listening)
    send = os.killpg if group else os.kill
    try:
        until = time.monotonic() + 600
        while not ready():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(0.2)
        send(process.pid, signal.SIGINT)
        printed, err = process.communicate(timeout=600)
    finally:
        if process.poll() is None:  # a game without end must not outlive its test
            send(process.pid, signal.SIGKILL)
    return process.returncode, printed, err
