"""The typer application, and the commands that take no session and no query."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import indexing, searching, sessions

app = typer.Typer(
    name="sesame",
    help="Full-text search over your coding-agent sessions.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import version

        typer.echo(f"sesame {version()}")
        raise typer.Exit


@app.callback()
def _sesame(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


indexing.add_to(app)
searching.add_to(app)
sessions.add_to(app)


@app.command()
def plugins(json: Json = False) -> None:
    """List every installed plugin: what it provides, where it comes from, or why it failed to load."""
    from .. import rendering
    from ..plugin_manager import PluginManager

    found = PluginManager().catalogue()
    typer.echo(rendering.as_json([rendering.plugin_json(p) for p in found]) if json else rendering.plugins_text(found))


@app.command()
def config(
    json: Json = False,
    init: Annotated[bool, typer.Option("--init", help="Write a commented config.jsonc, unless there is one.")] = False,
) -> None:
    """Print the effective configuration and where each value comes from."""
    from .. import config as configuration
    from .. import config_file, config_report, rendering
    from ..plugin_manager import PluginManager

    if init:
        typer.echo(f"wrote {config_file.initialise()}")
        return
    described = config_report.describe(configuration.load(), PluginManager())
    typer.echo(rendering.as_json(described) if json else rendering.config_text(described))
    if described["problems"]:
        sys.exit(1)
