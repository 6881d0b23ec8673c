"""Whether a path in a call means the file that is asked about."""

from __future__ import annotations

import pytest

from sesame_core import Session
from sesame_core.questions.same_file import Level, Name, SameFile

FOX = "/h/ann/fox"
#: The directory and the remote of a session, a path in a call, and whether that is `src/a.py` of the repository.
CASES = [
    (FOX, None, f"{FOX}/src/a.py", True),
    (FOX, None, "src/a.py", True),
    (FOX, None, "./src/../src/a.py", True),
    (f"{FOX}/src", None, "a.py", True),
    (f"{FOX}/docs", None, "../src/a.py", True),
    (FOX, None, "../src/a.py", False),
    (FOX, None, "packages/p/src/a.py", False),
    (FOX, None, f"{FOX}/packages/p/src/a.py", False),
    (FOX, None, f"{FOX}/.claude/worktrees/x/src/a.py", True),
    ("/h/bo/fox", None, "/h/bo/fox/src/a.py", True),
    ("/h/bo/fox/packages/p", None, "../../src/a.py", True),
    ("/h/bo/fox/packages/p", None, "../src/a.py", False),
    ("c:\\w\\Fox", None, "C:\\w\\fox\\src\\A.py", True),
    ("/h/bo/owl", None, "/h/bo/owl/src/a.py", False),
    ("/h/bo/work", "host/ann/fox", "/h/bo/work/src/a.py", True),
    ("/h/bo/work", "host/bo/fox", "/h/bo/work/src/a.py", True),
    ("/h/bo/fox", "host/bo/owl", "/h/bo/fox/src/a.py", False),
]


@pytest.mark.parametrize(("cwd", "repository", "path", "expected"), CASES)
def test_a_path_is_that_of_the_file_or_of_another(cwd: str, repository: str | None, path: str, expected: bool) -> None:
    same = SameFile(f"{FOX}/src/a.py", (FOX,), "host/ann/fox", [Name("src/a.py")])
    session = Session(id="s", agent="pi", cwd=cwd, repository=repository)
    assert (same.level(path, session, None) is Level.SAME) is expected
