"""`sesame mcp`: the tools of an agent."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .options import Command, Option

if TYPE_CHECKING:
    from ..mcp.calls import Calls
    from ..mcp.tools import Tools


def mcp(*, http: str | None, token_file: Path | None, allow_host: Sequence[str]) -> None:
    """Serve agents over the Model Context Protocol until the client ends.

    :param http: host and port; standard input and output when None.
    :raises QueryError: an option for HTTP is given without `http`.
    :raises SesameError: a package is not installed.
    """
    from importlib.util import find_spec

    from ..errors import OutputError, QueryError, SesameError
    from ..mcp.calls import Calls

    if http is None and (token_file or allow_host):
        raise QueryError("--token-file and --allow-host are for HTTP; use them with --http HOST:PORT")
    if find_spec("mcp") is None:
        from ..installation import adding

        raise SesameError(f"the MCP server needs a package that is not installed (mcp): {adding('mcp')}")
    if http is not None:
        _over_http(http, token_file, allow_host)
        return
    from ..mcp.stdio import serve
    from ..mcp.wire import Wire

    try:
        sys.stdout.write("")  # fails if it was closed: the descriptor below it is another file then
    except OSError as error:
        raise OutputError(f"cannot write the answer: {error.strerror or error}") from error
    calls = Calls(lambda: _opened(is_local=True))
    wire = Wire()

    def later(opening: bytes, lines: Iterator[bytes]) -> None:
        from ..mcp.server import SesameServer

        SesameServer(calls).serve(wire, opening, lines)

    with _closing(calls):
        serve(wire, calls, later)


def _over_http(http: str, token_file: Path | None, allow_host: Sequence[str]) -> None:
    from ..mcp import http as over_http
    from ..mcp.calls import Calls
    from ..mcp.server import SesameServer
    from ..runtime.listening import listen

    calls = Calls(lambda: _opened(is_local=False))
    with _closing(calls):
        token, origin = over_http.token(token_file)
        listening, place = listen(over_http.Place.read(http))
        sys.stderr.write(f"MCP on {place.url} ; {origin}\n")
        sys.stderr.flush()
        calls.warm_up()
        over_http.serve(over_http.application(SesameServer(calls).protocol, place, token, allow_host), listening)


def _opened(*, is_local: bool) -> Tools:
    """Return the tools on the sessions of the configuration.

    :param is_local: the client has started this process: it shares its environment.
    """
    from ..api.sesame import Sesame
    from ..mcp.tools import Tools

    sesame = Sesame()
    # A caller over HTTP does not share this process's environment.
    return Tools(sesame, sesame.current_sessions if is_local else tuple, is_local=is_local)


@contextmanager
def _closing(calls: Calls) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        from ..errors import OutputError

        told = f"sesame: {error}" if isinstance(error, OutputError) else ""
        calls.close(130 if isinstance(error, KeyboardInterrupt) else 1, told)
        raise
    calls.close()


COMMANDS = (
    Command(
        "mcp",
        mcp,
        "Serve agents over the Model Context Protocol: on standard input and output, until the client ends.",
        options=(
            Option("http", str, "Serve HTTP at this address instead; clients need a token.", metavar="HOST:PORT"),
            Option("token_file", Path, "File with the token; created if it is missing.", metavar="FILE"),
            Option(
                "allow_host",
                str,
                "A host name by which clients reach this server; repeatable.",
                is_repeatable=True,
                metavar="NAME",
            ),
        ),
        examples=(
            "sesame mcp",
            "sesame mcp --http 127.0.0.1:8765",
        ),
    ),
)
