"""`sesame mcp`: the tools of an agent."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from .options import Command, Option


def mcp(*, http: str | None, token_file: Path | None, allow_host: Sequence[str]) -> None:
    """Serve agents over the Model Context Protocol until the client ends.

    :param http: host and port; standard input and output when None.
    :raises QueryError: an option for HTTP is given without `http`.
    :raises SesameError: a package is not installed.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError, SesameError

    if http is None and (token_file or allow_host):
        raise QueryError("--token-file and --allow-host are for HTTP; use them with --http HOST:PORT")
    try:
        if http is not None:
            from ..mcp import http as over_http
        from ..mcp.server import SesameServer
        from ..mcp.tools import Tools
    except ImportError as error:
        from ..installation import adding

        raise SesameError(
            f"the MCP server needs a package that is not installed ({error.name}): {adding('mcp')}"
        ) from error
    with Sesame() as sesame:
        # A caller over HTTP does not share this process's environment.
        server = SesameServer(Tools(sesame, tuple if http else sesame.current_sessions))
        try:
            if http is None:
                server.serve_stdio()
                return
            token, origin = over_http.token(token_file)
            listening, place = over_http.listen(over_http.Place.read(http))
            sys.stderr.write(f"MCP on {place.url} ; {origin}\n")
            sys.stderr.flush()
            over_http.serve(over_http.application(server.protocol, place, token, allow_host), listening)
        finally:
            server.close()


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
