"""A look at a call's text leaves out no call that names the file."""

from __future__ import annotations

import pytest

from sesame_core.questions.named_file import NamedFile
from sesame_core.tool_calls.call_files import files_of

SHELL = "tool: Bash\ncommand: "
#: Calls, where they were made, and a file or directory that each names.
NAMING = (
    ("tool: Read\npath: /repo/src/App.py", "/repo", "src/app.py"),
    ("tool: Edit\npath: src\\app.py\nold: a\nnew: b", "C:\\repo", "src/app.py"),
    (SHELL + "cat app.py", "/repo/src", "src/app.py"),
    (SHELL + "cd src && sed -i s/a/b/ app.py:12", "/repo", "src/app.py"),
    (SHELL + "echo x >src/app.py", "/repo", "src/app.py"),
    (SHELL + 'cat "root"/src/app".py"', "/repo", "src/app.py"),
    (SHELL + "cat app/\\[id\\]/page.tsx", "/repo", "app/[id]/page.tsx"),
    (SHELL + "cat 'my dir/a b.txt' my\\ dir/c.txt", "/repo", "my dir/c.txt"),
    (SHELL + "python - <<'E'\nopen('x').write('a\\nb')\nopen('src/app.py')\nE", "/repo", "src/app.py"),
    ("tool: exec\ncode: run({cmd: 'cat\\tsrc/app.py'})", "/repo", "src/app.py"),
    (
        "tool: shell\ncommand: apply_patch <<'E'\n*** Begin Patch\n*** Update File: src/app.py\n+a\nE",
        "/r",
        "src/app.py",
    ),
)


@pytest.mark.parametrize(("text", "directory", "name"), NAMING)
def test_a_call_that_names_the_file_may(text: str, directory: str, name: str) -> None:
    for file in (NamedFile(name), NamedFile(name.rpartition("/")[0], is_directory=True)):
        assert any(file.is_meant(one.path) for one in files_of(text, directory))
        assert file.may_be_in(text, directory)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SHELL + "git commit -m 'Add sources'", "src/app.py"),
        (SHELL + "cat lib/app.py", "src/app.py"),
        (SHELL + "cat src/my_app.py", "src/app.py"),
        (SHELL + "pytest -k testing tests/unit.py", "test"),
    ],
)
def test_a_call_with_other_words_may_not(text: str, name: str) -> None:
    assert not NamedFile(name, is_directory=True).may_be_in(text, "/repo")


def test_a_name_that_a_file_had_may_be_meant() -> None:
    assert NamedFile("src/app.py", other_names=("src/main.py",)).may_be_in(SHELL + "cat src/main.py", "/repo")
