"""The typer application, made from the declared commands: it prints help, completes, and reports usage errors."""

from __future__ import annotations

import inspect
import keyword
import shlex
from collections.abc import Callable
from typing import Annotated, Any

import typer
import typer.core

from .commands import command, commands
from .completing import completer
from .help import command_help, program_help
from .options import Argument, Command, Option
from .parse import TEXTUAL
from .terminal import columns, write_version


class _Program(typer.core.TyperGroup):
    """The program, with the help that is made from the declarations."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(program_help(columns()) + "\n")


class _Helped(typer.core.TyperCommand):
    """A command, with the help that is made from its declaration."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        declared = command(str(self.name))
        assert declared is not None
        formatter.write(command_help(declared, columns()) + "\n")


app = typer.Typer(
    name="sesame",
    cls=_Program,
    help="Full-text search over your coding-agent sessions.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Searching(_Helped):
    """A command whose argument is text, so that an option that it does not have may be text, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line; an unknown option is an error that says how to search for it.

        :raises Exception: the command line is not valid.
        """
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # The class is in `click`, or in a part of typer, depending on the version of typer.
            if type(error).__name__ == "NoSuchOption":
                options = [argument for argument in given if argument.startswith("-")]
                text = shlex.join(given if len(options) == 1 else options[:1])
                error.message += f"; to search for the text: sesame {self.name} -- {text}"  # type: ignore[attr-defined]
            raise


def _print_version(wanted: bool) -> None:
    if wanted:
        write_version()
        raise typer.Exit


@app.callback()
def _sesame(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _of_argument(argument: Argument, command: str) -> inspect.Parameter:
    made = typer.Argument(
        metavar=argument.metavar, help=argument.help, autocompletion=completer(argument.name, command)
    )
    kind: Any = list[argument.kind] if argument.is_repeatable else argument.kind  # type: ignore[name-defined]
    default = inspect.Parameter.empty if argument.is_required else None
    return _parameter(argument.name, kind if argument.is_required else kind | None, made, default)


def _of_option(option: Option, command: str) -> inspect.Parameter:
    flags = [option.flag, *option.more]
    if any(flag.startswith("--no-") for flag in option.more):
        flags = ["/".join(flags)]
    made = typer.Option(
        *flags,
        help=option.help,
        min=option.least,
        max=option.most,
        metavar=option.metavar,
        autocompletion=completer(option.name, command),
    )
    kind: Any = list[option.kind] if option.is_repeatable else option.kind  # type: ignore[name-defined]
    return _parameter(option.name, kind if option.default is not None else kind | None, made, option.default)


def _parameter(name: str, kind: Any, made: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        _python_name(name), inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, made], default=default
    )


def _python_name(name: str) -> str:
    """Return the name of a parameter: `--in` is a word that Python does not take as one."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _function_of(command: Command) -> Callable[..., None]:
    """Return a function whose signature describes a command to typer."""
    lists = {argument.name for argument in command.arguments if argument.is_repeatable}
    lists |= {option.name for option in command.options if option.is_repeatable}
    parameters = [_of_argument(one, command.name) for one in command.arguments]
    parameters += [_of_option(one, command.name) for one in command.options]

    declared = [each.name for each in command.arguments] + [each.name for each in command.options]
    names = {_python_name(name): name for name in declared}

    def run(**values: Any) -> None:
        named = {names[name]: value for name, value in values.items()}
        command.run({name: value or [] if name in lists else value for name, value in named.items()})

    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


for _command in commands():
    _class = _Searching if _command.name in TEXTUAL else _Helped
    app.command(_command.name, cls=_class, help=_command.help)(_function_of(_command))
