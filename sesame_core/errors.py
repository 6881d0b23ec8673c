"""Every error that Sesame raises on purpose.

The message of a `SesameError` is meant for a person: one line that names the thing and says what to do.
Libraries raise; only the command line's `main` catches `SesameError`.  Any other exception is a bug and shows
its traceback.
"""

from __future__ import annotations


class SesameError(Exception):
    """Base class of all errors that are shown to the user."""


class ConfigError(SesameError):
    """The configuration cannot be read or is invalid."""


class PluginError(SesameError):
    """A plugin could not be found, loaded or used."""


class UnknownPluginError(PluginError):
    """No installed plugin has this name, or the plugin does not provide what was requested."""


class DuplicatePluginError(PluginError):
    """Two plugins claim the same name."""


class PluginLoadError(PluginError):
    """A plugin is installed but importing or registering it failed."""


class ParseError(SesameError):
    """A file as a whole cannot be parsed; a single invalid record is a `Skipped` event instead.

    :param path: the file.
    :param message: what is wrong, lower-case, without the path.
    :param line: 1-based number of the line that caused it, if there is one.
    """

    def __init__(self, path: object, message: str, *, line: int | None = None) -> None:
        super().__init__(f"{path}{f':{line}' if line else ''}: {message}")
        self.path = str(path)
        self.line = line
        self.message = message


class BackendError(SesameError):
    """The storage backend failed: missing, corrupt, unreachable, full, or of a newer version."""


class UnpreparedError(BackendError):
    """A shared index that nobody has made yet, or another database than was meant."""


class LockedError(BackendError):
    """Another process is writing to the index; the message says which."""


class OutputError(SesameError):
    """The answer cannot be written: standard output is closed, or its disk is full."""


class StoppedError(SesameError):
    """A run was stopped before anything changed in the index."""


class QueryError(SesameError):
    """A value that was given is invalid, such as a malformed date or an unknown visibility; query text never raises."""


class UnknownSessionError(SesameError):
    """No indexed session has this id, or an abbreviated id matches several.

    :param message: what is wrong, for every caller.
    :param command: what to do on the command line, which the error's string has in addition.
    """

    def __init__(self, message: str, *, command: str = "") -> None:
        super().__init__(f"{message}; {command}" if command else message)
        self.message = message


class ResumeError(SesameError):
    """A session cannot be resumed here, or not at all; the message says why."""


class ModelError(SesameError):
    """A language model cannot be used, did not answer in time, or returned an empty answer."""


def told(error: BaseException) -> str:
    """Return what a server tells of an error: its message; of a bug only its kind, whose message may be any text."""
    if isinstance(error, SesameError):
        return str(error)
    return f"internal error ({type(error).__name__}); the server's log has the details"
