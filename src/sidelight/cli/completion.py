"""`sidelight completion`: teach a shell to complete commands, options, names and files."""

from __future__ import annotations

import click

from sidelight.cli.screen import write

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell, to be read when it starts.

    \b
    bash   echo 'eval "$(sidelight completion bash)"' >> ~/.bashrc
    zsh    echo 'eval "$(sidelight completion zsh)"' >> ~/.zshrc
    fish   sidelight completion fish > ~/.config/fish/completions/sidelight.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None  # click knows all three
    root = ctx.find_root().command
    maker = found(root, {}, "sidelight", "_SIDELIGHT_COMPLETE")
    write(f"{maker.source_template % maker.source_vars()}\n")  # source() also tries to run the shell
