"""Integrates Sesame in pi: the extension next to this module, and the skill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sesame_core.config.paths import environment
from sesame_core.types.integration import Integration, OwnFile

from . import agent_dir

#: The extension, a package of pi.
PACKAGE = Path(__file__).with_name("extension")
#: The line of the extension with the command that starts Sesame.
_COMMAND = 'const COMMAND = ["sesame"];'
#: That with the variables for it.
_ENVIRONMENT = "const ENVIRONMENT = {};"


def integration(command: Sequence[str], skill: str) -> Integration:
    """Return the extension, which starts Sesame with this command, and the skill."""
    place = agent_dir()
    main = (PACKAGE / "index.js").read_text(encoding="utf-8")
    files = {
        **{name: (PACKAGE / name).read_text(encoding="utf-8") for name in ("package.json", "answer.js")},
        "index.js": main.replace(_COMMAND, f"const COMMAND = {json.dumps(list(command))};").replace(
            _ENVIRONMENT, f"const ENVIRONMENT = {json.dumps(environment())};"
        ),
    }
    return Integration(
        parts=(
            *(OwnFile(path=place / "extensions" / "sesame" / name, text=text) for name, text in files.items()),
            OwnFile(path=place / "skills" / "sesame" / "SKILL.md", text=skill),
        )
    )
