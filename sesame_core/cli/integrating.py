"""`sesame integrate`: makes Sesame known to an agent."""

from __future__ import annotations

import sys

from .options import YES, Argument, Command, Option
from .terminal import confirm, write, write_error


def integrate(agent: str, *, remove: bool, yes: bool) -> None:
    """Show what will be written for an agent, and write it after a confirmation; without a terminal exit with 1.

    :param remove: remove it instead.
    :param yes: do not ask.
    :raises SesameError: the agent is unknown, or nothing can be written for it.
    """
    from ..errors import SesameError
    from ..integration.install import carry_out, plan, skill, started_by
    from ..plugin.manager import BUNDLED, PluginManager
    from ..plugin.parser import Integrable
    from ..search.agents import agent_named

    name = agent_named(agent, BUNDLED) or agent
    parser = PluginManager().parser(name)
    if not isinstance(parser, Integrable):
        raise SesameError(f"{name} has no integration; see docs/agents.md for what any agent can use")
    command = started_by(sys.argv[0], [sys.executable, "-m", "sesame_core"])
    steps = plan(parser.integration(command, skill()), remove=remove)
    if not steps:
        write(f"nothing to do: {name} {'is not integrated' if remove else 'is integrated already'}")
        return
    write("\n".join(step.description for step in steps))
    if not yes:
        if not sys.stdin.isatty():
            write_error("nothing was changed; confirm with --yes")
            raise SystemExit(1)
        if not confirm("Do this?"):
            return
    for copy in carry_out(steps):
        write(f"kept {copy}")
    write(f"done; {name} {'forgets' if remove else 'knows'} Sesame from its next start on")


COMMANDS = (
    Command(
        "integrate",
        integrate,
        "Teach an agent to search your sessions: shows what will be written, and asks.",
        (Argument("agent", "AGENT", "By its name in `sesame plugins`, or the beginning of it.", is_required=True),),
        (Option("remove", bool, "Undo it.", default=False), YES),
        examples=(
            "sesame integrate claude",
            "sesame integrate pi --remove",
        ),
    ),
)
