"""`sidelight list`: the names that other commands understand; `sidelight completion`: for shells to offer them."""

from __future__ import annotations

import click

from sidelight.cli import names, options
from sidelight.cli.screen import emit, emit_json, write

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="List the names that other commands understand.")
@click.argument("kind", type=click.Choice(names.KINDS), required=False)
@options.as_json
def list_command(kind: str | None, as_json: bool) -> None:
    """Families, policies, environments, claims and all else that has a name, as commands and sweep files write it."""
    kinds = (kind,) if kind else names.KINDS
    usages = names.known()
    if as_json:
        emit_json({kind: usages[kind] for kind in kinds})
        return
    from rich.text import Text

    for kind in kinds:
        emit(Text(kind, style="bold"), *(Text(f"  {usage}") for usage in usages[kind]))


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell, to be read when it starts.

    \b
    bash   echo 'eval "$(sidelight completion bash)"' >> ~/.bashrc
    zsh    echo 'eval "$(sidelight completion zsh)"' >> ~/.zshrc
    fish   sidelight completion fish > ~/.config/fish/completions/sidelight.fish
    """
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None  # click knows all three
    root = ctx.find_root().command
    maker = completion(root, {}, "sidelight", "_SIDELIGHT_COMPLETE")
    write(f"{maker.source_template % maker.source_vars()}\n")  # source() also tries to run the shell
