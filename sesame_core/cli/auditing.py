"""`sesame audit`."""

from __future__ import annotations

from .options import JSON, Command
from .terminal import write, write_report


def audit(*, json: bool) -> None:
    """Print where the index contains secrets, and which were looked for; exit with 1 when it contains one."""
    from ..api.sesame import Sesame
    from ..privacy.audit import Audit
    from ..rendering.audits import audit_json, audit_text, exposure_text
    from ..rendering.text import as_json

    seen, secrets = Audit(), 0
    with Sesame() as sesame:
        exposures = sesame.audit(seen)
        if json:
            value = audit_json(exposures, seen)
            secrets = len(value["secrets"])
            write(as_json(value))
        else:
            for exposure in exposures:
                secrets += 1
                write_report(exposure_text(exposure))
            write_report(audit_text(seen))
    if secrets:
        raise SystemExit(1)


COMMANDS = (
    Command(
        "audit",
        audit,
        "Scan the index for passwords, tokens and keys; print where they are, not what they are.",
        options=(JSON,),
        examples=("sesame audit",),
    ),
)
