"""`python -m sidelight`: the command line."""

from sidelight.cli.main import main

if __name__ == "__main__":
    main()
