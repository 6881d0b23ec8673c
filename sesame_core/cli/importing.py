"""`sesame import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..runtime.runtime import Imported


def add_to(app: typer.Typer) -> None:
    """Add this command to the application."""
    app.command("import")(import_files)


def import_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Sessions in Sesame's own format.")],
) -> None:
    """Copy sessions in Sesame's own format to the data directory and index them.

    A session that is there already stays as it is.  Exit code 1 when a file failed; all others are imported.
    """
    from ..api.sesame import Sesame
    from ..errors import SesameError
    from ..rendering.text import printable
    from ..runtime.runtime import Runtime

    failed = False
    with Sesame() as sesame:
        runtime = Runtime(sesame)
        for file in files:
            try:
                typer.echo(printable(_told(runtime.import_file(file))))
            except SesameError as error:
                typer.echo(f"sesame: {printable(str(error))}", err=True)
                failed = True
    if failed:
        sys.exit(1)


def _told(imported: Imported) -> str:
    if imported.reason:
        return f"imported: {imported.session_id}; not indexed yet: {imported.reason}"
    if imported.is_new:
        return f"imported: {imported.session_id}, {imported.chunks} chunks"
    return f"already there: {imported.session_id}"
