"""`sesame audit`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(audit)


def audit(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Look for passwords, tokens and keys in the index; tell where they are, not what they are."""
    from ..api.sesame import Sesame
    from ..privacy.audit import Audit
    from ..rendering.audits import audit_json, exposure_text
    from ..rendering.text import as_json

    seen, count = Audit(), 0
    with Sesame() as sesame:
        exposures = sesame.audit(seen)
        if json:
            value = audit_json(exposures, seen)
            count = len(value["secrets"])
            typer.echo(as_json(value))
        else:
            for exposure in exposures:
                count += 1
                typer.echo(exposure_text(exposure))
            typer.echo(f"{count or 'no'} secrets in {seen.sessions} sessions, {seen.chunks} chunks")
    if count:
        sys.exit(1)
