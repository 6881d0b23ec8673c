"""`sesame status`, `workstations`, `plugins` and `config`: the state of the index and of the configuration."""

from __future__ import annotations

from .options import JSON, Command, Option
from .terminal import write, write_report


def status(*, check: bool, json: bool) -> None:
    """Print what the index contains and how fresh it is.

    :param check: exit with 1 if the index's server has a problem.
    """
    from ..api.sesame import Sesame
    from ..rendering import status as rendering
    from ..rendering import text

    with Sesame() as sesame:
        statistics, expiring, plugins = sesame.status(), sesame.expiring(), sesame.plugins.catalogue()
        unread, server = sesame.unread(), sesame.team.server()
        unread.looked_in, unread.unread_roots = sesame.looked_in(), sesame.unread_roots()
    if json:
        write(text.as_json(rendering.status_json(statistics, expiring, plugins, unread, server)))
    else:
        write_report(rendering.status_text(statistics, expiring, plugins, unread, server))
    if check and server and server.problems:
        raise SystemExit(1)


def workstations(*, claim: bool, prepare: bool, json: bool) -> None:
    """Print the workstations that share the index.

    :param claim: first take over the sessions of the machine that used this workstation id before.
    :param prepare: create or upgrade the tables first.
    """
    from ..api.sesame import Sesame
    from ..rendering.status import workstations_json, workstations_text
    from ..rendering.text import as_json

    with Sesame() as sesame:
        if prepare:
            sesame.team.prepare()
        if claim:
            sesame.team.claim()
        found = sesame.team.workstations()
    if json:
        write(as_json(workstations_json(found)))
    else:
        write_report(workstations_text(found))


def plugins(*, json: bool) -> None:
    """Print every installed plugin."""
    from ..plugin.manager import PluginManager
    from ..rendering.status import plugin_json, plugins_text
    from ..rendering.text import as_json

    found = PluginManager().catalogue()
    if json:
        write(as_json([plugin_json(p) for p in found]))
    else:
        write_report(plugins_text(found))


def config(*, json: bool, init: bool) -> None:
    """Print the effective configuration; exit with 1 when something is wrong with it.

    :param init: write a commented file instead.
    """
    from ..config.file import initialise, load
    from ..config.report import describe
    from ..plugin.manager import PluginManager
    from ..rendering.config import config_text
    from ..rendering.text import as_json

    if init:
        write(f"wrote {initialise()}")
        return
    described = describe(load(), PluginManager())
    if json:
        write(as_json(described))
    else:
        write_report(config_text(described))
    if described["problems"]:
        raise SystemExit(1)


COMMANDS = (
    Command(
        "status",
        status,
        "Print what the index contains and how fresh it is.",
        options=(
            Option("check", bool, "Exit with 1 if the server of a shared index has a problem.", default=False),
            JSON,
        ),
        examples=(
            "sesame status",
            "sesame status --json",
        ),
        is_brief=True,
    ),
    Command(
        "workstations",
        workstations,
        "List the workstations that share the index, with their owners and their freshness.",
        options=(
            Option(
                "claim",
                bool,
                "Take over the sessions of the machine that this one replaces.",
                default=False,
            ),
            Option("prepare", bool, "Create or upgrade the tables first; index nothing.", default=False),
            JSON,
        ),
        examples=("sesame workstations",),
    ),
    Command(
        "plugins",
        plugins,
        "List every installed plugin: what it provides, where it comes from, or why it failed to load.",
        options=(JSON,),
        examples=("sesame plugins",),
        is_brief=True,
    ),
    Command(
        "config",
        config,
        "Print the effective configuration and where each value comes from.",
        options=(
            JSON,
            Option("init", bool, "Write a commented config.jsonc, unless there is one.", default=False),
        ),
        examples=(
            "sesame config",
            "sesame config --init",
        ),
        is_brief=True,
    ),
)
