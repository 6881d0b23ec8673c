"""`sesame integrate`: makes Sesame known to an agent."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .options import YES, Argument, Command, Option
from .terminal import confirm, write, write_error

if TYPE_CHECKING:
    from ..integration.install import Step


def integrate(agent: str, *, remove: bool, yes: bool) -> None:
    """Show what will be written for an agent, and write it after a confirmation; without a terminal exit with 1.

    :param remove: remove it instead.
    :param yes: do not ask.
    :raises SesameError: the agent is unknown, or nothing can be written for it, or not all.
    """
    from ..errors import SesameError
    from ..installation import kind, lasting, started_by
    from ..integration.install import carry_out, hindrance, plan, skill
    from ..plugin.manager import BUNDLED, PluginManager
    from ..plugin.parser import Integrable
    from ..search.agents import agent_named

    name = agent_named(agent, BUNDLED) or agent
    parser = PluginManager().parser(name)
    if not isinstance(parser, Integrable):
        raise SesameError(f"{name} has no integration; see docs/agents.md for what any agent can use")
    command = started_by(sys.argv[0], [sys.executable, "-m", "sesame_core"])
    parts = parser.integration(command, skill(command))
    if not remove and (found := kind()).is_temporary:
        extras = parts.extra[:1] if parts.extra else ()
        raise SesameError(
            f"this Sesame runs from the cache of {found.value}, and agents need one that stays: "
            f"{lasting(*extras)} && sesame integrate {agent}"
        )
    problem = None if remove else hindrance(parts)
    steps = plan(parts, remove=remove)
    if steps:
        _show(steps, is_whole=not yes)
        if not yes:
            if not sys.stdin.isatty():
                write_error("nothing was changed; confirm with --yes")
                raise SystemExit(1)
            if not confirm("Do this?"):
                return
        for copy in carry_out(steps):
            write(f"kept {copy}")
        if not problem:
            write(f"done; {name} {'forgets' if remove else 'knows'} Sesame from its next start on")
    elif not problem:
        write(f"nothing to do: {name} {'is not integrated' if remove else 'is integrated already'}")
    if not remove:
        _offer_index(is_asking=not yes and sys.stdin.isatty())
    if problem:
        again = [*command, "integrate", agent, *(["--yes"] if yes else [])]
        raise SesameError(f"{problem} && {shlex.join(again)}")


def _show(steps: Iterable[Step], *, is_whole: bool) -> None:
    """Print the steps, and what is written into files of the agent.

    :param is_whole: and what is written into files of Sesame's own.
    """
    for step in steps:
        write(step.description)
        if is_whole or step.is_setting:
            for line in step.lines():
                write(line)


def _offer_index(*, is_asking: bool) -> None:
    """Offer to index the sessions of this machine, if the index has none: until then an agent finds nothing."""
    from ..api.sesame import Sesame
    from ..errors import SesameError

    try:
        with Sesame() as sesame:
            if sesame.status().sessions:
                return
    except SesameError as error:
        write_error(f"sesame: {error}")
        return
    if is_asking and confirm("No session is indexed yet.  Index them now?"):
        from .indexing import index

        index([], full=False, yes=False, json=False)
    else:
        write("next: sesame index")


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
