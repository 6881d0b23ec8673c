"""The typer application, and the commands that take no session and no query."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from . import (
    asking,
    auditing,
    describing,
    importing,
    indexing,
    integrating,
    referring,
    serving,
    sessions,
    sharing,
)
from .options import COMMANDS, Command

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


def _function_of(command: Command) -> Callable[..., None]:
    """Return a function whose signature tells typer what the table tells about a command."""
    parameters = []
    if command.words:
        name, placeholder, text = command.words
        words = Annotated[list[str] | None, typer.Argument(metavar=placeholder, help=text)]
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=words, default=None))
    for option in command.options:
        flags = [option.flag, *option.more]
        if option.kind is bool:
            flags = ["/".join(flags)]
        kind: Any = list[str] | None if option.is_repeatable else option.kind
        if option.default is None and not option.is_repeatable:
            kind = option.kind | None
        made = typer.Option(*flags, help=option.help, min=option.least, max=option.most)
        parameters.append(
            inspect.Parameter(
                option.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, made], default=option.default
            )
        )

    def run(**values: Any) -> None:
        lists = {command.words[0] if command.words else "", *(o.name for o in command.options if o.is_repeatable)}
        command.run({name: value or [] if name in lists else value for name, value in values.items()})

    run.__doc__ = getattr(import_module(command.module, __package__), command.name).__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


indexing.add_to(app)
importing.add_to(app)
for _command in COMMANDS.values():
    app.command(_command.name)(_function_of(_command))
sessions.add_to(app)
auditing.add_to(app)
sharing.add_to(app)
asking.add_to(app)
describing.add_to(app)
referring.add_to(app)
integrating.add_to(app)
serving.add_to(app)


@app.command()
def plugins(json: Json = False) -> None:
    """List every installed plugin: what it provides, where it comes from, or why it failed to load."""
    from ..plugin.manager import PluginManager
    from ..rendering.status import plugin_json, plugins_text
    from ..rendering.text import as_json

    found = PluginManager().catalogue()
    typer.echo(as_json([plugin_json(p) for p in found]) if json else plugins_text(found))


@app.command()
def config(
    json: Json = False,
    init: Annotated[bool, typer.Option("--init", help="Write a commented config.jsonc, unless there is one.")] = False,
) -> None:
    """Print the effective configuration and where each value comes from."""
    from ..config.file import initialise, load
    from ..config.report import describe
    from ..plugin.manager import PluginManager
    from ..rendering.config import config_text
    from ..rendering.text import as_json

    if init:
        typer.echo(f"wrote {initialise()}")
        return
    described = describe(load(), PluginManager())
    typer.echo(as_json(described) if json else config_text(described))
    if described["problems"]:
        sys.exit(1)
