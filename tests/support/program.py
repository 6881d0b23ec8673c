"""What the command line takes itself for in a test that runs it in the test's process."""

from __future__ import annotations

from pathlib import Path

import sesame_core

#: As `python -m sesame_core` has it: a bare `sesame` would mean whichever one the machine has on its PATH.
PROGRAM = str(Path(sesame_core.__file__).with_name("__main__.py"))
