"""Lets Sesame search the sessions of the agent Xyz."""

from sesame_core import ConfigError, Provider, hookimpl


def create(options):
    if options:
        raise ConfigError(f"the parser 'xyz' has no option {next(iter(options))!r}; it takes none")
    from .parser import XyzParser

    return XyzParser()


@hookimpl
def sesame_register_parsers():
    return [Provider(name="xyz", summary="Xyz sessions, one message per line", create=create)]
