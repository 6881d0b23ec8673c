"""`sesame integrate`: telling an agent of Sesame."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    """Add this command to the application."""
    app.command()(integrate)


def integrate(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="pi, or claude for Claude Code.")],
    remove: Annotated[bool, typer.Option("--remove", help="Undo it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Teach an agent to search your sessions: shows what will be written, and asks."""
    from ..errors import SesameError
    from ..integration.install import carry_out, plan, skill, started_by
    from ..plugin.manager import BUNDLED, PluginManager
    from ..plugin.parser import Integrable

    name = next((name for name in BUNDLED if name.startswith(f"{agent}-")), agent)
    parser = PluginManager().parser(name)
    if not isinstance(parser, Integrable):
        raise SesameError(f"{name} has nothing to be told by; see docs/agents.md for what any agent can use")
    command = started_by(sys.argv[0], [sys.executable, "-m", "sesame_core"])
    steps = plan(parser.integration(command, skill()), remove=remove)
    if not steps:
        typer.echo(f"nothing to do: {name} {'knows nothing' if remove else 'knows all'} of Sesame")
        return
    typer.echo("\n".join(step.description for step in steps))
    if not yes:
        if not sys.stdin.isatty():
            typer.echo("nothing is changed; confirm with --yes", err=True)
            raise typer.Exit(1)
        if not typer.confirm("Do this?"):
            return
    for copy in carry_out(steps):
        typer.echo(f"kept {copy}")
    typer.echo(f"done; {name} {'forgets' if remove else 'knows'} Sesame when it is started next")
