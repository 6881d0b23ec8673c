"""The same history gives the same answers on every backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from sesame_core.config.model import Selection, Source
from sesame_core.rendering.fixes import fixes_json, ways_json

from ..support.every_backend import BACKENDS, opened
from ..support.worked import Step, asks, edits, runs, says, write
from .test_howto import HISTORY

ERRORS = (
    "error: failed to push some refs to 'example.org:bob/x.git'",
    "src/z.ts(1,1): error TS2304: Cannot find name 'widget'.",
    "error: widget is undefined",
    "nothing of it",
)
COMMANDS = ("cargo test", "cargo", "run the tests", "deploy", "git push", "nothing of it")


def worked(number: int) -> list[Step]:
    """Return a session with errors, each time with another end."""
    rejected = f"error: failed to push some refs to 'example.org:ann/app{number}.git'"
    broken = f"src/app{number}.ts(3,{number}): error TS2304: Cannot find name 'widget'."
    fixed = [edits("src/app.ts", "a", "b"), runs("npm run build", "done")] if number % 2 else []
    return [
        asks("go on"),
        runs("npm run build", broken, fails=True),
        *fixed,
        says("Now the push."),
        runs("git push", rejected, fails=True),
        *([runs("git pull --rebase", None)] if number % 3 else []),
        runs("git push", "done"),
        says("Pushed."),
    ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_gives_the_same_answers(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    for name, (day, cwd, steps) in HISTORY.items():
        write(tmp_path / "in", name, steps, day=day, cwd=cwd)
    for number in range(6):
        write(tmp_path / "in", f"s{number}", worked(number), day=number, cwd=f"/code/app{number % 2}")
    answers = []
    for kind in dict.fromkeys(("memory", backend)):
        request.param = kind
        (tmp_path / kind).mkdir()
        with opened(request, tmp_path / kind, Source(parser=Selection(name="sesame"), path=tmp_path / "in")) as sesame:
            sesame.index()
            fixes = [fixes_json(sesame.fix(error)) for error in ERRORS]
            ways = [ways_json(sesame.how(command)) for command in COMMANDS]
        for answer in (*fixes, *ways):
            # Where sessions were looked for, and when, differs.
            answer["index"], answer["hints"] = {"refreshed": False}, []
        answers.append((fixes, ways))
    assert answers[0] == answers[-1]
    assert [len(answer["fixes"]) for answer in answers[0][0][:2]] > [0, 0]
