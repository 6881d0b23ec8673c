"""`sesame web`: the page in a browser."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .options import Command, Option

#: Environment variable with the password.
PASSWORD = "SESAME_WEB_PASSWORD"
#: Packages of the extra `web`.
PACKAGES = ("starlette", "uvicorn", "jinja2")


def web(
    *,
    host: str,
    port: int,
    password_file: Path | None,
    behind: str | None,
    allow_host: Sequence[str],
    read_only: bool,
    open: bool,
) -> None:
    """Serve the page until the process is stopped.

    :param password_file: lets visitors in with the password in it, instead of the one browser with the token.
    :param behind: the name of a proxy in front, which lets visitors in.
    :raises QueryError: other machines could reach the page, and nothing keeps them out.
    :raises SesameError: a package is not installed, or the address is in use.
    """
    from importlib.util import find_spec

    from ..errors import QueryError, SesameError

    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        from ..installation import adding

        what = "a package that is" if len(missing) == 1 else "packages that are"
        raise SesameError(f"the page needs {what} not installed ({', '.join(missing)}): {adding('web')}")
    from ..api.sesame import Sesame
    from ..runtime.listening import Place, secret
    from ..web.desk import Desk
    from ..web.server import serve

    place = Place(host.removeprefix("[").removesuffix("]"), port)
    has_password = password_file is not None or bool(os.environ.get(PASSWORD))
    if not (place.is_loopback or has_password or behind):
        raise QueryError(
            f"--host {host} lets other machines in: give them a password with --password-file FILE, or {PASSWORD}, "
            "or name the proxy that asks them for one with --behind NAME"
        )
    password, said = None, []
    if has_password:
        password, origin = secret(password_file, variable=PASSWORD, name="web-password", noun="password")
        said.append(f"Visitors need the password; {origin}")
    elif behind:
        said.append(f"Whoever reaches {place.host} is let in: {behind} must ask them who they are")
    if not place.is_loopback:
        said.append("Other machines reach this page without encryption, unless a proxy in front of it encrypts")
    with Sesame() as sesame:
        shown = sesame if place.is_loopback and not behind else sesame.without_secrets()
        desk = Desk(sesame, shown, is_read_only=read_only or not sesame.may_write())
        serve(desk, place, password=password, behind=behind, further=allow_host, opens=open, said=said)


COMMANDS = (
    Command(
        "web",
        web,
        "Serve a page to search and read in, for this machine's browser alone, and open it.",
        options=(
            Option("host", str, "Listen on this address instead.", default="127.0.0.1", metavar="ADDRESS"),
            Option("port", int, "Listen on this port; a free one by default.", default=0, least=0, most=65535),
            Option(
                "password_file",
                Path,
                "Let in who has the password in this file; created if it is missing.",
                metavar="FILE",
            ),
            Option("behind", str, "Let in whoever the proxy with this host name lets through.", metavar="NAME"),
            Option(
                "allow_host",
                str,
                "A host name by which browsers reach this page; repeatable.",
                is_repeatable=True,
                metavar="NAME",
            ),
            Option("read_only", bool, "Index and mark nothing.", default=False),
            Option("open", bool, "Open a browser.", more=("--no-open",), default=True),
        ),
        examples=(
            "sesame web",
            "sesame web --port 8765 --no-open",
        ),
    ),
)
