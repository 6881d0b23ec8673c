"""`sesame import`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .options import Argument, Command
from .terminal import write_error, write_report

if TYPE_CHECKING:
    from ..runtime.runtime import Imported


def import_files(files: Sequence[Path]) -> None:
    """Copy sessions in Sesame's own format to the data directory and index them; exit with 1 when a file failed."""
    from ..api.sesame import Sesame
    from ..errors import SesameError
    from ..rendering.text import printable
    from ..runtime.runtime import Runtime

    failed = False
    with Sesame() as sesame:
        runtime = Runtime(sesame)
        for file in files:
            try:
                write_report(printable(_result_text(runtime.import_file(file))))
            except SesameError as error:
                write_error(f"sesame: {printable(str(error))}")
                failed = True
    if failed:
        raise SystemExit(1)


def _result_text(imported: Imported) -> str:
    from ..rendering.text import count

    if imported.reason:
        return f"imported: {imported.session_id}; not indexed yet: {imported.reason}"
    if imported.is_new:
        return f"imported: {imported.session_id}, {count(imported.chunks, 'chunk')}"
    return f"already there: {imported.session_id}"


COMMANDS = (
    Command(
        "import",
        import_files,
        "Index sessions in Sesame's own format, from copies in the data directory.\n\n"
        "A session that exists already is not changed.  Exit code 1 when a file failed; all others are imported.",
        (
            Argument(
                "files",
                "FILE...",
                "Sessions in Sesame's own format.",
                kind=Path,
                is_required=True,
                is_repeatable=True,
            ),
        ),
        examples=("sesame import notes.jsonl",),
    ),
)
