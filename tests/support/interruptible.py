"""Programs that ctrl-C can stop, also when the test-suite itself runs in the background and ignores it."""

import signal


def listening():
    """For `preexec_fn`: what a shell in the background switches off is on again in the child."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
