"""What holds for every failure of the command line."""


def assert_one_line(err):
    """One line that says what is wrong, never a traceback."""
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1, err
    assert err.strip().startswith("error: ")


def assert_usage(err):
    """How the command is written, then what is wrong with what was."""
    assert "Traceback" not in err
    assert err.startswith("Usage: sidelight")
    assert err.strip().splitlines()[-1].startswith("Error: ")
