"""Lets Sesame keep its index in a pickle."""

from sesame_core import Provider, hookimpl


def create(options):
    from sesame_core.config.paths import data_dir, expand
    from sesame_core.sdk.options import PATH, check

    from .backend import PickleBackend

    check("the pickle backend", options, {"path": PATH})
    return PickleBackend(expand(options.get("path") or data_dir() / "index.pickle"))


@hookimpl
def sesame_register_backends():
    return [Provider(name="pickle", summary="A pickle, for a few thousand messages", create=create)]
