"""Which sessions wrote the lines of a file, on every backend."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from sesame_core import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.errors import QueryError, SesameError
from sesame_core.questions.blame import blame
from sesame_core.questions.target import target
from sesame_core.types.query import Filters
from sesame_core.types.questions import Blame

from ..support.every_backend import BACKENDS, opened
from ..support.histories import FORMS, History


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path)


@pytest.fixture(params=BACKENDS)
def library(request: pytest.FixtureRequest, tmp_path: Path, history: History) -> Iterator[Sesame]:
    with opened(request, tmp_path, Source(parser=Selection(name="sesame"), path=history.source)) as sesame:
        yield sesame


@pytest.fixture
def local(tmp_path: Path, history: History, home: Path) -> Iterator[Sesame]:
    """An index on this machine, for what does not depend on the backend."""
    source = Source(parser=Selection(name="sesame"), path=history.source)
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        yield sesame


def asked(sesame: Sesame, history: History, reference: str, **filters: object) -> Blame:
    """Index the sessions, and ask."""
    history.save()
    sesame.index()
    return sesame.blame(str(history.root / reference), Filters(**filters))  # type: ignore[arg-type]


def wrote(found: Blame) -> dict[int, str]:
    """Return by number of a line the session that wrote it."""
    return {
        line: run.writers[0].stored.session.id
        for run in found.runs
        if run.writers
        for line in range(run.first, run.last + 1)
    }


def evidence(found: Blame, line: int) -> str:
    return next(run.writers[0].evidence for run in found.runs if run.first <= line <= run.last and run.writers)


SOCKET = "class Socket:\n    def open(self):\n        self.tries = 0\n        return self.connect()\n"


def test_a_file_that_one_session_wrote_and_another_changed(library: Sesame, history: History) -> None:
    first = history.session("s-first")
    first.asks("write a socket that reconnects")
    first.writes("src/socket.py", SOCKET)
    second = history.session("s-second")
    second.asks("count the attempts from one")
    place = second.edits("src/socket.py", "self.tries = 0", "self.tries = 1")
    found = asked(library, history, "src/socket.py")
    assert wrote(found) == {1: "s-first", 2: "s-first", 3: "s-second", 4: "s-first"}
    assert (found.unknown, found.edits, found.name) == (0, 2, "src/socket.py")
    assert [(one.stored.session.id, one.lines, one.asked) for one in found.sessions] == [
        ("s-first", 3, "write a socket that reconnects"),
        ("s-second", 1, "count the attempts from one"),
    ]
    assert found.sessions[1].writer.position == place
    assert found.sessions[1].asked_at == 0


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_edit(tmp_path: Path, form: str, home: Path) -> None:
    history = History(tmp_path)
    first = history.session("s-first")
    first.writes("socket.py", SOCKET, tool="write_file")
    second = history.session("s-second")
    second.edits(
        "socket.py", "        self.tries = 0\n", "        self.attempts = 1\n        self.delay = 500\n", form=form
    )
    history.save()
    source = Source(parser=Selection(name="sesame"), path=history.source)
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        sesame.index()
        found = sesame.blame(str(history.root / "socket.py"))
    assert wrote(found) == {1: "s-first", 2: "s-first", 3: "s-second", 4: "s-second", 5: "s-first"}


def test_a_file_that_git_renamed_and_no_session_did(library: Sesame, history: History) -> None:
    history.session("s-first").writes("src/socket.py", SOCKET)
    history.git("mv", "src/socket.py", "src/connection.py")
    history.commit("person")
    history.session("s-second").edits("src/connection.py", "self.tries = 0", "self.tries = 1")
    found = asked(library, history, "src/connection.py")
    assert wrote(found) == {1: "s-first", 2: "s-first", 3: "s-second", 4: "s-first"}
    assert found.former == ("src/socket.py",)


def test_a_file_that_a_session_renamed_and_nobody_committed(local: Sesame, history: History) -> None:
    session = history.session("s-first")
    session.writes("src/socket.py", SOCKET)
    os.rename(history.root / "src/socket.py", history.root / "src/connection.py")
    session.calls("bash", command="git mv src/socket.py src/connection.py")
    found = asked(local, history, "src/connection.py")
    assert set(wrote(found).values()) == {"s-first"}
    assert found.unknown == 0


def test_a_new_file_at_the_former_path_is_another_one(local: Sesame, history: History) -> None:
    history.session("s-first").writes("socket.py", SOCKET)
    history.git("mv", "socket.py", "connection.py")
    history.commit("person")
    history.session("s-other").writes("socket.py", "class Other:\n    def open(self):\n        return None\n")
    found = asked(local, history, "connection.py")
    assert set(wrote(found).values()) == {"s-first"}


def test_a_line_that_was_removed_and_written_again(local: Sesame, history: History) -> None:
    history.session("s-first").writes("socket.py", SOCKET)
    history.session("s-second").edits("socket.py", "        self.tries = 0\n", "")
    history.session("s-third").edits(
        "socket.py", "        return self.conn", "        self.tries = 0\n        return self.conn"
    )
    found = asked(local, history, "socket.py:3")
    assert wrote(found) == {3: "s-third"}
    assert [one.stored.session.id for one in found.runs[0].writers] == ["s-third", "s-first"]


def test_a_whole_file_written_again_with_one_new_line(local: Sesame, history: History) -> None:
    history.session("s-first").writes("socket.py", SOCKET)
    history.session("s-second").writes("socket.py", SOCKET + "\n    def close(self):\n        self.tries = 9\n")
    found = asked(local, history, "socket.py")
    assert [wrote(found)[line] for line in (1, 2, 3, 4, 6, 7)] == ["s-first"] * 4 + ["s-second"] * 2


def test_lines_that_say_nothing_alone_go_with_their_neighbours(local: Sesame, history: History) -> None:
    one, two, three = (f"function {name}() {{\n  return {name}_result\n}}\n" for name in ("one", "two", "three"))
    history.session("s-first").writes("a.js", f"{one}\n{two}")
    history.session("s-second").edits("a.js", "\nfunction two", f"\n{three}\nfunction two")
    found = wrote(asked(local, history, "a.js"))
    lines = [found.get(line) for line in range(1, 12) if line not in (4, 8)]
    assert lines == ["s-first"] * 3 + ["s-second"] * 3 + ["s-first"] * 3


def test_lines_that_a_formatter_indented_quoted_and_broke(local: Sesame, history: History) -> None:
    written = "options = connect('localhost', timeout=30, retries=5, keepalive=True)\nname = 'fox and owl'\n"
    history.session("s-first").writes("a.py", written)
    broken = 'options = connect(\n    "localhost", timeout=30, retries=5,\n    keepalive=True,\n)\n'
    history.put("a.py", f'{broken}name = "fox and owl"\n')
    history.commit("formatter")
    found = asked(local, history, "a.py")
    assert set(wrote(found).values()) == {"s-first"}
    assert found.unknown == 0
    assert evidence(found, 2) == "reflowed"
    assert evidence(found, 5) == "edit"


def test_a_part_of_a_line_that_an_edit_replaced(local: Sesame, history: History) -> None:
    history.session("s-first").writes("a.py", "retries = load_setting('retries', 5)\n")
    history.session("s-second").edits("a.py", "load_setting('retries', 5)", "load_setting('retries', default=7)")
    found = asked(local, history, "a.py")
    assert wrote(found) == {1: "s-second"}


def test_lines_that_were_moved_from_another_file_by_hand(library: Sesame, history: History) -> None:
    body = "def reconnect_after(delay_seconds, attempts):\n    return delay_seconds * 2 ** attempts\n"
    history.session("s-first").writes("old.py", body)
    history.put("new.py", "import math\n\n" + body)
    (history.root / "old.py").unlink()
    history.put("old.py", "")
    history.commit("person")
    found = asked(library, history, "new.py")
    assert wrote(found) == {3: "s-first", 4: "s-first"}
    assert evidence(found, 3) == "elsewhere"
    assert found.sessions[0].writer.path == "old.py"
    assert found.unknown == 1


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("cat > run.sh <<'EOF'\nset -o errexit\nexport FOX=brown\nEOF", "set -o errexit\nexport FOX=brown\n"),
        ("cat <<EOF > run.sh\nset -o errexit\nexport FOX=brown\nEOF", "set -o errexit\nexport FOX=brown\n"),
        ("tee run.sh <<EOF >/dev/null\nexport FOX=brown\nEOF", "export FOX=brown\n"),
        ("mkdir -p x && cat >> run.sh <<'END'\nexport FOX=brown\nEND", "export FOX=brown\n"),
        ("echo 'export FOX=brown' > run.sh", "export FOX=brown\n"),
        ("printf 'export FOX=brown\\n' >> run.sh", "export FOX=brown\n"),
    ],
)
def test_a_command_that_wrote_a_file(tmp_path: Path, command: str, text: str, home: Path) -> None:
    history = History(tmp_path)
    history.session("s-shell").runs(command)
    assert history.read("run.sh") == text
    history.save()
    source = Source(parser=Selection(name="sesame"), path=history.source)
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        sesame.index()
        found = sesame.blame(str(history.root / "run.sh"))
    assert set(wrote(found).values()) == {"s-shell"}
    assert found.unknown == 0
    assert evidence(found, 1) == "command"


def test_sed_changed_a_line_that_a_session_wrote(local: Sesame, history: History) -> None:
    history.session("s-first").writes("a.py", "host = 'localhost'\nport = 8080\n")
    history.session("s-sed").runs("sed -i 's/localhost/staging.example.org/' a.py")
    found = asked(local, history, "a.py")
    assert wrote(found) == {1: "s-sed", 2: "s-first"}


def test_sed_changed_a_line_that_nobody_is_known_for(local: Sesame, history: History) -> None:
    history.put("a.py", "host = 'localhost'\nport = 8080\n")
    history.commit("person")
    history.session("s-sed").runs("sed -i -e 's|localhost|staging.example.org|g' a.py")
    found = asked(local, history, "a.py")
    assert wrote(found) == {1: "s-sed"}
    assert found.unknown == 1


def test_a_script_that_wrote_a_line(local: Sesame, history: History) -> None:
    history.put("a.py", "port = 8080\n")
    history.commit("person")
    lines = ["p = 'a.py'", "new = 'retries_before_giving_up = 12\\n'", "text = open(p).read() + new"]
    script = "\n".join(["python3 - <<'EOF'", *lines, "open(p, 'w').write(text)", "EOF"])
    history.session("s-script").runs(script)
    found = asked(local, history, "a.py")
    assert wrote(found) == {2: "s-script"}
    assert evidence(found, 2) == "script"


def test_an_edit_that_failed_wrote_nothing(library: Sesame, history: History) -> None:
    history.put("a.py", "retries_before_giving_up = 12\n")
    history.commit("person")
    session = history.session("s-failed")
    path = str(history.root / "a.py")
    session.calls(
        "Edit",
        is_error=True,
        output="String not found",
        file_path=path,
        old_string="x = 1",
        new_string="retries_before_giving_up = 12",
    )
    found = asked(library, history, "a.py")
    assert wrote(found) == {}
    assert found.unknown == 1


def test_a_file_of_the_same_name_in_another_directory(library: Sesame, history: History) -> None:
    history.session("s-first").writes("one/main.py", "first_value = compute_it(1)\nshared_import = True\n")
    history.session("s-second").writes("two/main.py", "second_value = compute_it(2)\nshared_import = True\n")
    found = asked(library, history, "one/main.py")
    assert set(wrote(found).values()) == {"s-first"}
    assert found.edits == 1


def test_a_session_in_another_checkout_on_another_machine(library: Sesame, history: History) -> None:
    history.put("src/socket.py", SOCKET)
    history.commit("person")
    session = history.session("s-far", cwd="/Users/bo/work/fox")
    session.calls("Write", file_path="/Users/bo/work/fox/src/socket.py", content=SOCKET)
    found = asked(library, history, "src/socket.py")
    assert set(wrote(found).values()) == {"s-far"}


def test_relative_paths_from_a_directory_below_the_root(local: Sesame, history: History) -> None:
    history.put("src/socket.py", SOCKET)
    history.commit("person")
    session = history.session("s-below", cwd=str(history.root / "src"))
    session.calls("write", path="socket.py", content=SOCKET)
    found = asked(local, history, "src/socket.py")
    assert set(wrote(found).values()) == {"s-below"}


def test_a_worktree_elsewhere(local: Sesame, history: History, tmp_path: Path) -> None:
    history.session("s-main").writes("src/socket.py", SOCKET)
    history.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    found_in_main = asked(local, history, "src/socket.py")
    history.save()
    found = local.blame(str(tmp_path / "side" / "src" / "socket.py"))
    assert wrote(found) == wrote(found_in_main) == dict.fromkeys(range(1, 5), "s-main")


def test_a_fork_repeats_the_session_that_wrote_the_line(library: Sesame, history: History) -> None:
    first = history.session("s-first")
    first.writes("a.py", "retries_before_giving_up = 12\n")
    fork = history.session("s-fork", parentId="s-first")
    fork.records += first.records[1:]
    fork.asks("and now something else")
    found = asked(library, history, "a.py")
    assert wrote(found) == {1: "s-first"}


def test_filters_decide_which_sessions_are_named(library: Sesame, history: History) -> None:
    history.session("s-first", agent="owl").writes("a.py", "retries_before_giving_up = 12\n")
    history.session("s-second", agent="fox").writes("a.py", "retries_before_giving_up = 12\nport = 8080\n")
    assert wrote(asked(library, history, "a.py", agents=("fox",))) == {1: "s-second", 2: "s-second"}


def test_nothing_is_known_of_a_file(library: Sesame, history: History) -> None:
    history.put("a.py", "port = 8080\n\n")
    history.commit("person")
    history.session("s-other").asks("what is in a.py?")
    found = asked(library, history, "a.py")
    assert (found.sessions, found.unknown, found.edits) == ((), 1, 0)
    assert [(run.first, run.last, run.writers) for run in found.runs] == [(1, 2, ())]


def test_lines_written_after_the_file_last_changed_are_elsewhere(library: Sesame, history: History) -> None:
    history.session("s-first").writes("a.py", "retries_before_giving_up = 12\n")
    history.save()
    before = (history.root / "a.py").stat().st_mtime
    for _ in range(600):
        history.now()
    late = history.session("s-late")
    late.calls("Write", file_path=str(history.root / "a.py"), content="retries_before_giving_up = 12\nport = 8080\n")
    history.save()
    os.utime(history.root / "a.py", (before, before))
    library.index()
    assert wrote(library.blame(str(history.root / "a.py"))) == {1: "s-first"}


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("a.py:0", "has no line 0; its lines are 1-2"),
        ("a.py:3", "has no line 3; its lines are 1-2"),
        ("a.py:2-1", "has no lines 2-1; its lines are 1-2"),
        ("missing.py", "No such file or directory; name a file that exists, or FILE:LINE of one"),
        ("missing.py:7", "No such file or directory; name a file that exists, or FILE:LINE of one"),
        (".", "Is a directory; name a file that exists, or FILE:LINE of one"),
        ("empty.py", "is empty; ask about a file with lines"),
        ("image.png", "is not text; ask about a file with lines"),
    ],
)
def test_what_cannot_be_asked_about(tmp_path: Path, reference: str, message: str, home: Path) -> None:
    history = History(tmp_path)
    history.put("a.py", "one\ntwo\n")
    history.put("empty.py", "")
    (history.root / "image.png").write_bytes(b"\x89PNG\0\0")
    with Sesame(sources=[], data_dir=tmp_path / "data") as sesame, pytest.raises(SesameError, match=message) as raised:
        sesame.blame(str(history.root / reference))
    assert isinstance(raised.value, QueryError) == ("its lines are" in message)


def test_a_file_outside_of_git(local: Sesame, history: History, tmp_path: Path) -> None:
    place = tmp_path / "notes"
    place.mkdir()
    (place / "plan.txt").write_text("the plan is to reconnect twice\nthen to give up\n")
    session = history.session("s-plan", cwd=str(place))
    session.calls("Write", file_path=str(place / "plan.txt"), content="the plan is to reconnect twice\n")
    history.save()
    local.index()
    found = local.blame(str(place / "plan.txt"))
    assert wrote(found) == {1: "s-plan"}
    assert found.unknown == 1
    assert found.revision == ""


def test_a_name_with_a_colon_and_a_number(local: Sesame, history: History) -> None:
    history.session("s-first").writes("notes:12", "the twelfth note of the fox\n")
    assert wrote(asked(local, history, "notes:12")) == {1: "s-first"}
    assert wrote(local.blame(str(history.root / "notes:12") + ":1")) == {1: "s-first"}


def test_lines_that_were_moved_by_hand_from_a_file_of_the_same_name(local: Sesame, history: History) -> None:
    history.session("s-first").writes("one/main.py", "def reconnect_after(delay_seconds):\n    return delay_seconds\n")
    history.put("two/main.py", "def reconnect_after(delay_seconds):\n    return delay_seconds * 2\n")
    history.commit("person")
    found = asked(local, history, "two/main.py")
    assert wrote(found) == {1: "s-first"}
    assert evidence(found, 1) == "elsewhere"


@pytest.mark.parametrize(
    ("command", "below"),
    [
        ("git mv socket.py connection.py", "src"),
        ("cd src && git mv socket.py connection.py", ""),
        ("git mv src/socket.py src/connection.py", ""),
        ("git mv lib/socket.py src/connection.py", ""),
    ],
)
def test_a_session_renamed_it_from_some_directory(tmp_path: Path, command: str, below: str, home: Path) -> None:
    history = History(tmp_path)
    former = "lib/socket.py" if "lib" in command else "src/socket.py"
    first = history.session("s-first")
    first.calls("Write", file_path=str(history.root / former), content=SOCKET)
    history.put("src/connection.py", SOCKET)
    history.session("s-second", cwd=str(history.root / below)).calls("bash", command=command)
    history.save()
    source = Source(parser=Selection(name="sesame"), path=history.source)
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        sesame.index()
        found = sesame.blame(str(history.root / "src" / "connection.py"))
    assert set(wrote(found).values()) == {"s-first"}
    assert evidence(found, 1) == "edit"
    assert found.former == (former,)


def test_a_page_of_sessions(library: Sesame, history: History) -> None:
    for n in range(4):
        history.session(f"s-{n}").writes(f"part{n}.py", "")
        history.put("a.py", "".join(f"value_of_part_{m} = {m}\n" * 1 for m in range(n + 1)))
        history.session(f"t-{n}").calls(
            "Edit", file_path=str(history.root / "a.py"), old_string="", new_string=f"value_of_part_{n} = {n}"
        )
    history.save()
    library.index()
    path = str(history.root / "a.py")
    whole = library.blame(path)
    page = library.blame(path, limit=2, offset=1)
    assert page.sessions == whole.sessions[1:3]
    assert (page.total, page.offset, page.runs) == (4, 1, whole.runs)


def test_an_agent_gets_an_answer_without_secrets(library: Sesame, history: History) -> None:
    from sesame_core.rendering.blames import blame_answer_json
    from sesame_core.rendering.schemas.blames import BlameAnswerJson

    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    session = history.session("s-first")
    session.asks(f"use the token {secret}")
    session.writes("a.py", f"retries_before_giving_up = 12\ntoken = '{secret}'\n")
    history.save()
    library.index()
    found = library.without_secrets().blame(str(history.root / "a.py"))
    value = TypeAdapter(BlameAnswerJson).validate_python(blame_answer_json(found), strict=True)
    assert (value["about"], value["total"]) == ("a.py", 1)
    (only,) = value["sessions"]
    assert (only["session"], only["at"]) == ("s-first", 1)
    assert secret not in str(value)
    assert "use the token" in (only["asked"] or "")


def test_a_reader_that_finds_no_phrases_finds_candidates(history: History, tmp_path: Path, home: Path) -> None:
    class Plain:
        """A reader of a third party, which has no abilities."""

        def __init__(self, reader: Any) -> None:
            self._reader = reader

        def __getattr__(self, name: str) -> Any:
            if name not in ("snapshot", "candidates", "sessions", "find_by_id", "list_sessions", "chunks"):
                raise AttributeError(name)
            return getattr(self._reader, name)

    history.session("s-first").writes("a.py", "retries_before_giving_up = 12\n")
    history.save()
    source = Source(parser=Selection(name="sesame"), path=history.source)
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        sesame.index()
        reader: Any = Plain(sesame._index.reader())
        found = blame(reader, target(str(history.root / "a.py")), [str(history.root)], Filters())
    assert wrote(found) == {1: "s-first"}
    assert found.freshness is None


def test_a_line_without_a_word(local: Sesame, history: History) -> None:
    history.put("a.py", "}\n\n---\n")
    history.commit("person")
    history.session("s-other").writes("b.py", "}\n")
    assert wrote(asked(local, history, "a.py:1")) == {}


def test_a_line_of_another_repository_is_there_by_chance(local: Sesame, history: History) -> None:
    history.put("a.py", "from collections.abc import Iterator\nvalue = 1\n")
    history.commit("person")
    other = history.session("s-other", cwd="/home/bo/owl")
    other.calls("Write", file_path="/home/bo/owl/b.py", content="from collections.abc import Iterator\nother = 2\n")
    assert wrote(asked(local, history, "a.py")) == {}


def test_lines_that_were_copied_from_another_repository(local: Sesame, history: History) -> None:
    body = "def reconnect_after(delay_seconds):\n    return delay_seconds * 2 ** attempts\n"
    history.put("a.py", f"value = 1\n{body}")
    history.commit("person")
    session = history.session("s-other", cwd="/home/bo/owl")
    session.calls("Write", file_path="/home/bo/owl/b.py", content=body)
    found = asked(local, history, "a.py")
    assert wrote(found) == {2: "s-other", 3: "s-other"}
    assert evidence(found, 2) == "elsewhere"


def test_lines_that_an_edit_only_has_around_its_change_are_not_its_own(local: Sesame, history: History) -> None:
    history.put("a.py", "def reconnect(delay_seconds, attempts):\n    tries = 0\n    return delay_seconds\n")
    history.commit("person")
    old = "def reconnect(delay_seconds, attempts):\n    tries = 0\n    return"
    session = history.session("s-first")
    session.edits("a.py", old, old.replace("tries = 0", "tries = 1  # the first one"))
    found = asked(local, history, "a.py")
    assert wrote(found) == {2: "s-first"}
    assert found.unknown == 2


@pytest.mark.parametrize("numbered", ["{n}\t{line}", "{n:>6}→{line}", "{line}"])
def test_a_whole_file_that_was_read_before_it_was_written(tmp_path: Path, numbered: str, home: Path) -> None:
    history = History(tmp_path)
    history.put("a.py", SOCKET)
    history.commit("person")
    session = history.session("s-first")
    path = str(history.root / "a.py")
    shown = "\n".join(numbered.format(n=n, line=line) for n, line in enumerate(SOCKET.splitlines(), 1))
    session.calls("Read", output=shown, file_path=path)
    session.writes("a.py", SOCKET.replace("tries = 0", "tries = 5") + "    attempts = 12\n")
    history.save()
    source = Source(parser=Selection(name="sesame"), path=history.source)
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        sesame.index()
        found = sesame.blame(path)
    assert wrote(found) == {3: "s-first", 5: "s-first"}
    assert found.unknown == 3
