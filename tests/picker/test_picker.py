"""The picker on a real terminal: every key, sizes, signals, and what it does without a terminal."""

from __future__ import annotations

import base64
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.picker.bindings import BINDINGS

from ..support.transcripts import pi_session
from .terminal import SESAME, Terminal

pytestmark = pytest.mark.once

SETTINGS = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
TITLE = "SQLite migration sets"
ESC, ENTER, TAB, SHIFT_TAB, F1 = "\x1b", "\r", "\t", "\x1b[Z", "\x1bOP"
UP, DOWN, PAGE_UP, PAGE_DOWN = "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~"

Start = Callable[..., Terminal]


@pytest.fixture
def directory(home: Path) -> Path:
    """A session of Claude Code in a directory that exists."""
    place = home / "den"
    place.mkdir()
    record = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": SETTINGS,
        "cwd": str(place),
        "timestamp": "2026-08-01T10:00:00.000Z",
        "message": {"role": "user", "content": "why does the kingfisher dive at noon"},
    }
    file = home / ".claude" / "projects" / "-den" / f"{SETTINGS}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(record) + "\n")
    with Sesame() as sesame:
        assert sesame.index().added == 1
    return place


def selected(terminal: Terminal) -> str:
    return next((row for row in terminal.rows[2:] if row.startswith("> ")), "")


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def program(home: Path, name: str, script: str) -> str:
    file = home / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


# -- finding ----------------------------------------------------------------------------------------------


def test_sesame_alone_lists_the_newest_sessions_and_typing_finds_one(indexed_sessions: Path, start: Start) -> None:
    terminal = start()
    terminal.wait("9 sessions, latest first")
    assert len([row for row in terminal.rows[2:] if row]) >= 9
    terminal.send("websocket migration")
    terminal.wait(lambda: TITLE in selected(terminal))
    terminal.wait("the websocket client?")  # the preview, at the passage
    terminal.send(ESC)
    assert terminal.end() == 130
    assert terminal.is_echoing()


def test_a_query_of_the_command_line_is_typed_at_first(indexed_sessions: Path, start: Start) -> None:
    terminal = start("pick", "websocket", "migration")
    terminal.wait(lambda: TITLE in selected(terminal))
    assert terminal.rows[0] == "> websocket migration"


def test_the_list_is_never_that_of_an_earlier_text(indexed_sessions: Path, start: Start) -> None:
    terminal = start()
    terminal.send("websocket")
    terminal.wait(lambda: TITLE in selected(terminal))
    # Enter comes with the rest of the text, long before its answer.
    terminal.send("\x15flaky publish job release\x19")
    terminal.wait("copied: cd /home/ann/code/lantern-cli" if os.path.isdir("/home/ann") else "does not exist")
    assert "Fix the flaky publish job" in selected(terminal)


def test_an_invalid_query_is_text_and_says_so(indexed_sessions: Path, start: Start) -> None:
    terminal = start("pick", "after:never websocket")
    terminal.wait("was read as a word")
    assert TITLE in selected(terminal)


def test_an_empty_index_says_where_sessions_would_be(start: Start) -> None:
    terminal = start()
    terminal.wait("the index is empty: no session files found")
    terminal.send(ENTER)
    terminal.wait("no session is selected")


def test_a_word_that_is_nowhere_is_named_with_how_weak_the_rest_is(indexed_sessions: Path, start: Start) -> None:
    terminal = start("pick", "zyzzyva xylophone")
    terminal.wait("0 sessions")
    terminal.wait("Not found as a word: zyzzyva, xylophone")
    terminal.send("\x15websocket zyzzyva xylophone")
    terminal.wait("weak match")


def test_sessions_of_files_that_change_behind_it_appear_and_the_selection_stays(home: Path, start: Start) -> None:
    pi_session("first", "the kingfisher dives", cwd="/w/one")
    with Sesame() as sesame:
        sesame.index()
    for number in range(5):
        pi_session(f"later{number}", f"a later bird {number}")
    terminal = start()
    terminal.wait("6 sessions, latest first")
    assert "kingfisher" in selected(terminal)
    assert "indexing" not in terminal.rows[1]


def test_with_a_refresh_of_zero_seconds_nothing_is_indexed_behind_it(home: Path, start: Start) -> None:
    pi_session("first", "the kingfisher dives")
    with Sesame() as sesame:
        sesame.index()
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{"refreshSeconds": 0}')
    pi_session("second", "the bowerbird builds")
    terminal = start()
    terminal.wait("1 session, latest first")
    terminal.send("bowerbird")
    terminal.wait("Not found as a word: bowerbird")


def test_a_source_that_does_not_exist_is_named(indexed_sessions: Path, start: Start) -> None:
    file = indexed_sessions / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{"sources": [{"parser": "pi", "path": "/nowhere/sessions"}]}')
    terminal = start("pick", "websocket")
    terminal.wait("Not searched: /nowhere/sessions: no such directory")


# -- what is done with a session --------------------------------------------------------------------------


def test_enter_resumes_the_session_in_its_directory(directory: Path, agent: Path, start: Start) -> None:
    terminal = start()
    terminal.wait("1 session")
    terminal.send("kingfisher" + ENTER)
    assert terminal.end() == 0
    assert agent.read_text() == f"{directory}\n--resume {SETTINGS}\n"
    assert terminal.is_echoing()


def test_a_double_click_resumes_and_a_click_selects(directory: Path, agent: Path, start: Start) -> None:
    pi_session("other", "another bird")
    terminal = start(columns=120)
    terminal.wait("2 sessions")
    row = next(number for number, text in enumerate(terminal.rows) if "kingfisher" in text[:48] and number > 1)
    click = f"\x1b[<0;5;{row + 1}M\x1b[<0;5;{row + 1}m"
    terminal.send(click)
    terminal.wait(lambda: "kingfisher" in selected(terminal))
    assert not agent.exists()
    terminal.send(click + click)
    assert terminal.end() == 0
    assert agent.exists()


def test_print_gives_the_command_to_whoever_asked_and_draws_on_the_terminal(directory: Path, home: Path) -> None:
    out = home / "out"
    line = f"{' '.join(SESAME)} pick --print kingfisher > {out}"
    with Terminal(["sh", "-c", line]) as terminal:
        terminal.wait("1 session")
        terminal.send(ENTER)
        assert terminal.end() == 0
    assert out.read_text() == f"cd {directory} && claude --resume {SETTINGS}\n"


def test_print_prints_nothing_when_none_is_chosen(directory: Path, home: Path) -> None:
    out = home / "out"
    with Terminal(["sh", "-c", f"{' '.join(SESAME)} pick --print > {out}"]) as terminal:
        terminal.wait("1 session")
        terminal.send(ESC)
        assert terminal.end() == 130
    assert out.read_text() == ""


def test_a_session_that_cannot_be_resumed_says_why_and_the_picker_stays(indexed_sessions: Path, start: Start) -> None:
    terminal = start(columns=200)
    terminal.wait("9 sessions")
    terminal.send("websocket migration" + ENTER)
    terminal.wait("the session's directory does not exist: /home/ann/code/chat-client")
    terminal.send("\x15nix")
    terminal.wait(lambda: "nix" in selected(terminal))


def test_an_agent_that_is_not_installed_is_named(directory: Path, start: Start) -> None:
    terminal = start(env={"PATH": "/usr/bin:/bin"})
    terminal.send("kingfisher" + ENTER)
    terminal.wait("'claude' is not on the PATH: install it, or copy the command")


def test_a_key_copies_the_command_through_the_terminal(directory: Path, start: Start) -> None:
    terminal = start()
    terminal.send("kingfisher\x19")
    terminal.wait("copied: cd ")
    copied = base64.b64encode(f"cd {directory} && claude --resume {SETTINGS}".encode())
    assert b"\x1b]52;c;" + copied + b"\x07" in terminal.written


def test_a_key_stars_the_session_and_takes_the_star_away(directory: Path, start: Start) -> None:
    terminal = start()
    terminal.send("kingfisher\x1bs")
    terminal.wait(lambda: any("★" in row for row in terminal.rows))
    terminal.send("\x15is:star" + TAB)
    terminal.wait(lambda: terminal.rows[0] == "> is:starred" and "1 session" in terminal.rows[1])
    terminal.send("\x1bs")
    terminal.wait("not starred any more")


def test_a_key_shows_the_session_in_the_pager_and_comes_back(directory: Path, home: Path, start: Start) -> None:
    terminal = start(
        env={"PAGER": program(home, "pager", f"cat > {home}/shown; echo in the pager; read answer </dev/tty")}
    )
    terminal.wait("1 session")  # before, Ctrl-V is for the terminal itself
    terminal.send("kingfisher\x16")
    terminal.wait("in the pager")
    assert "→0 user" in (home / "shown").read_text()
    terminal.send("\n")
    terminal.wait(lambda: "kingfisher" in selected(terminal) and "in the pager" not in terminal.text)


def test_a_key_exports_the_session_and_never_over_a_file(
    directory: Path, home: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    terminal = start()
    terminal.send("kingfisher")
    terminal.wait(lambda: "kingfisher" in selected(terminal))
    terminal.send("\x1be")
    terminal.wait("exported, without secrets: d6bc0d35.html")
    terminal.send("\x1be")
    terminal.wait("exported, without secrets: d6bc0d35-2.html")
    for name in ("d6bc0d35.html", "d6bc0d35-2.html"):
        assert "why does the kingfisher dive at noon" in (home / name).read_text()


def test_a_key_opens_the_file_in_the_editor_at_the_record(directory: Path, home: Path, start: Start) -> None:
    terminal = start(env={"EDITOR": program(home, "vim", f'echo "$@" > {home}/opened')})
    terminal.wait("1 session")
    terminal.send("kingfisher\x0f")
    file = home / ".claude" / "projects" / "-den" / f"{SETTINGS}.jsonl"
    terminal.wait(lambda: (home / "opened").exists() and (home / "opened").read_text() == f"+1 {file}\n")
    file.unlink()
    editor = program(home, "vim", f'cat "$1" > {home}/copy; mv {home}/copy {home}/transcript')
    assert editor
    terminal.send("\x0f")
    terminal.wait(lambda: (home / "transcript").exists())
    assert "why does the kingfisher dive" in (home / "transcript").read_text()


@pytest.mark.parametrize(("variable", "key"), [("PAGER", "\x16"), ("EDITOR", "\x0f")])
def test_a_program_that_cannot_be_started_is_named(directory: Path, start: Start, variable: str, key: str) -> None:
    terminal = start(env={variable: "/nowhere/program --flag"})
    terminal.wait("1 session")
    terminal.send("kingfisher" + key)
    terminal.wait(f"cannot start '/nowhere/program': No such file or directory; set ${variable}")


@pytest.mark.parametrize(("variable", "key"), [("PAGER", "\x16"), ("VISUAL", "\x0f"), ("EDITOR", "\x0f")])
def test_a_variable_with_an_open_quote_is_named(directory: Path, start: Start, variable: str, key: str) -> None:
    terminal = start(env={variable: "vi 'x"})
    terminal.wait("1 session")
    terminal.send(key)
    terminal.wait(f"${variable} is not a command: No closing quotation")


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_less_shows_a_text_that_fits_until_a_key_and_an_interrupt_does_not_end_the_picker(
    directory: Path, start: Start
) -> None:
    terminal = start(env={"PAGER": "cat", "LESS": "-FRX"})
    terminal.wait("1 session")
    terminal.send("\x16")
    terminal.wait("#0 user 2026-08-01")
    terminal.signal(signal.SIGINT)  # as the terminal sends it to less and the picker
    terminal.send("q")
    terminal.wait(lambda: "kingfisher" in selected(terminal))


# -- keys -------------------------------------------------------------------------------------------------


def test_keys_move_the_selection(indexed_sessions: Path, start: Start) -> None:
    terminal = start()
    terminal.wait("9 sessions")
    first = selected(terminal)
    for down, up in ((DOWN, UP), ("\x0e", "\x10"), (PAGE_DOWN, PAGE_UP), ("\x1b[<65;5;5M", "\x1b[<64;5;5M")):
        terminal.send(down)
        terminal.wait(lambda: selected(terminal) not in ("", first))
        terminal.send(up)
        terminal.wait(lambda: selected(terminal) == first)


def test_the_list_grows_when_its_end_is_reached(home: Path, start: Start) -> None:
    for number in range(70):
        pi_session(f"bird{number:02}", f"bird number {number:02}")
    with Sesame() as sesame:
        sesame.index()
    terminal = start("pick", "bird")
    terminal.wait("30 of 70 sessions")
    terminal.send(PAGE_DOWN * 6)
    terminal.wait("60 of 70 sessions")
    terminal.send(PAGE_DOWN * 8)
    terminal.wait("70 sessions")


def test_keys_and_the_wheel_scroll_the_preview_and_unfold_it(home: Path, start: Start) -> None:
    pi_session("long", "kingfisher\n" + "\n".join(f"line {number}" for number in range(100)))
    terminal = start("pick", "kingfisher", columns=120)
    terminal.wait("line 10")
    for down, up in (("\x1b[1;2B", "\x1b[1;2A"), ("\x1bj", "\x1bk"), ("\x1b[<65;90;9M", "\x1b[<64;90;9M")):
        terminal.send(down)
        terminal.wait(lambda: "#0 user" not in terminal.text and "→0 user" not in terminal.text)
        terminal.send(up)
        terminal.wait("→0 user")
    terminal.send("\x1bj" * 30)
    terminal.wait("… 41 more lines")
    terminal.send("\x18")
    terminal.wait(lambda: "more lines" not in terminal.text)
    terminal.send("\x1bj" * 40)
    terminal.wait("line 99")
    terminal.send("\x18")
    terminal.wait("… 41 more lines")


def test_tab_completes_a_field_and_its_value(indexed_sessions: Path, start: Start) -> None:
    terminal = start()
    terminal.wait("9 sessions")
    terminal.send("agen" + TAB)
    terminal.wait(lambda: terminal.rows[0] == "> agent:")
    terminal.send(TAB)
    terminal.wait(lambda: "agent:claude-code  agent:pi" in terminal.rows[1])
    terminal.send(TAB)
    terminal.wait(lambda: terminal.rows[0] == "> agent:pi")
    terminal.send(SHIFT_TAB)
    terminal.wait(lambda: terminal.rows[0] == "> agent:claude-code")
    terminal.send("websocket")
    terminal.wait(lambda: terminal.rows[0] == "> agent:claude-code websocket" and "1 session" in terminal.rows[1])
    terminal.send(" zzz" + TAB)
    terminal.wait("nothing to complete")


def test_keys_switch_agent_directory_and_time(indexed_sessions: Path, start: Start) -> None:
    terminal = start()
    terminal.wait("9 sessions")
    for key, seen in (
        ("\x07", ["agent:claude-code", "agent:pi", ""]),
        ("\x12", ["is:here", ""]),
        ("\x14", ["after:1d", "after:7d", "after:30d", ""]),
    ):
        for text in seen:
            terminal.send(key)
            terminal.wait(lambda text=text: terminal.rows[0] == f"> {text}".rstrip())  # type: ignore[misc]
    terminal.send("\x07")
    terminal.wait("4 sessions, latest first")


def test_keys_edit_the_line(home: Path, start: Start) -> None:
    terminal = start()
    edits = [
        ("one two three", "one two three"),
        ("\x17", "one two"),  # the word before the cursor
        ("\x01x", "xone two"),
        ("\x05y", "xone two y"),
        ("\x1b[D\x7f", "xone twoy"),
        ("\x02\x02\x04", "xone toy"),
        ("\x1b[H\x1b[3~", "one toy"),
        ("\x06\x06\x0b", "on"),
        ("\x1b[Fe two", "one two"),
        ("\x1bbz", "one ztwo"),
        ("\x1b[1;5D\x1b[1;5Dx", "xone ztwo"),
        ("\x1bd", "x ztwo"),
        ("\x1bf!", "x ztwo!"),
        ("\x1b\x7f", "x"),
        ("\x1b[200~p\nq\x1b[201~", "x p q"),
        ("\x15", ""),
        ("one two\x1b[1;3D-", "one -two"),
        ("\x1b[H\x1b[C-", "o-ne -two"),
        ("\x1b[1;5C\x1b[1;3C-", "o-ne -two-"),
        ("\x15", ""),
        ("日本🎉", "日本🎉"),
    ]
    for keys, text in edits:
        terminal.send(keys)
        terminal.wait(lambda text=text: " ".join(terminal.rows[0][1:].split()) == text)  # type: ignore[misc]


def test_the_help_names_every_key_scrolls_and_goes(indexed_sessions: Path, start: Start) -> None:
    terminal = start(columns=120, rows=50)
    terminal.wait("9 sessions")
    terminal.send(F1)
    for binding in BINDINGS:
        terminal.wait(binding.help)
    terminal.send(F1)
    terminal.wait(lambda: "Copy the command" not in terminal.text)
    terminal.resize(80, 12)
    terminal.send(F1)
    terminal.wait("Resume the session")
    terminal.send(PAGE_DOWN * 5)
    terminal.wait("Esc, Ctrl-C")
    terminal.send(PAGE_UP * 5 + DOWN)
    terminal.wait(lambda: "Ctrl-Y" in terminal.rows[3])
    terminal.send(ESC)
    terminal.wait(lambda: "Ctrl-Y" not in terminal.text)
    terminal.send(F1)
    terminal.wait("Ctrl-V")
    terminal.send("websocket")
    terminal.wait(lambda: TITLE in selected(terminal))


def test_a_key_draws_everything_again(indexed_sessions: Path, start: Start) -> None:
    terminal = start()
    terminal.wait("9 sessions")
    terminal.wait(lambda: "indexing" not in terminal.text)
    terminal.screen.reset()
    terminal.send("\x0c")
    terminal.wait("9 sessions")
    terminal.wait("Enter resume")


def test_a_key_suspends_it_and_the_shell_comes_back_to_it(indexed_sessions: Path, home: Path) -> None:
    shell = ["bash", "--norc", "--noprofile", "-i"]
    with Terminal(shell, env={"PS1": "$ ", "HISTFILE": str(home / "history")}) as terminal:
        terminal.wait("$")
        terminal.send(f"{shlex.join(SESAME)} pick websocket\n")
        terminal.wait("→0 user")
        for stop in ("\x1a", None):
            if stop:
                terminal.send(stop)
            else:  # by another program, which leaves the terminal as it is
                (picker,) = children(terminal.pid)
                os.kill(picker, signal.SIGSTOP)
            terminal.wait("Stopped")
            terminal.send("stty sane; echo $((12300 + 45))\n")
            terminal.wait("12345")
            terminal.send("fg\n")
            terminal.wait(lambda: "12345" not in terminal.text and TITLE in selected(terminal))
        terminal.send(ESC)
        terminal.wait(lambda: terminal.text.rstrip().endswith("\n$"))  # what is typed before is not for the shell
        terminal.send("echo $?\n")
        terminal.wait("130")
        terminal.send("exit\n")
        terminal.end()


def test_a_picker_that_prints_is_not_suspended(directory: Path, start: Start) -> None:
    terminal = start("pick", "--print")
    terminal.wait("1 session")
    terminal.send("\x1a")
    terminal.wait("a picker that prints cannot be suspended")


@pytest.mark.parametrize(("key", "code"), [(ESC, 130), ("\x03", 130), ("\x04", 130)])
def test_a_key_quits_and_leaves_the_terminal_as_it_was(
    indexed_sessions: Path, start: Start, key: str, code: int
) -> None:
    terminal = start()
    terminal.wait("9 sessions")
    terminal.send(key)
    assert terminal.end() == code
    assert terminal.is_echoing()
    assert terminal.written.endswith(b"\x1b[?1049l")


def test_every_key_is_pressed_by_a_test() -> None:
    """Each key of each action has its test here; a new one needs one, too."""
    text = Path(__file__).read_text()
    sent = {
        "enter": "ENTER", "tab": "TAB", "shift-tab": "SHIFT_TAB", "f1": "F1", "esc": "ESC", "up": "UP", "down": "DOWN",
        "page-up": "PAGE_UP", "page-down": "PAGE_DOWN", "shift-up": "1;2A", "shift-down": "1;2B", "left": "\\x1b[D",
        "home": "\\x1b[H", "end": "\\x1b[F", "delete": "\\x1b[3~", "backspace": "\\x7f", "right": "\\x1b[C",
        "ctrl-left": "1;5D", "ctrl-right": "1;5C", "alt-left": "1;3D", "alt-right": "1;3C",
        "alt-backspace": "\\x1b\\x7f",
    }  # fmt: skip
    for binding in BINDINGS:
        codes = [
            sent.get(key)
            or (f"\\x{ord(key[-1]) - 96:02x}" if key.startswith("ctrl-") and len(key) == 6 else f"\\x1b{key[-1]}")
            for key in binding.keys
        ]
        assert not [code for code in codes if code not in text], binding.action


# -- terminals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_screen_of_any_width_has_the_list_and_the_passage(indexed_sessions: Path, start: Start, columns: int) -> None:
    terminal = start("pick", "websocket", columns=columns)
    terminal.wait(lambda: "SQLite migration" in selected(terminal))
    terminal.wait("→0 user")
    assert all(len(row) <= columns for row in terminal.rows)


def test_it_follows_the_size_of_the_terminal(indexed_sessions: Path, start: Start) -> None:
    terminal = start("pick", "websocket")
    terminal.wait("→0 user")
    for columns, rows in ((120, 40), (40, 10), (20, 5), (2, 1), (80, 24)):
        terminal.resize(columns, rows)
        terminal.wait(lambda: terminal.rows[0].startswith(">"))
    terminal.wait("→0 user")
    terminal.wait(lambda: TITLE in selected(terminal))


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"CLICOLOR": "0"}])
def test_without_colours_it_has_none(indexed_sessions: Path, start: Start, environ: dict[str, str]) -> None:
    terminal = start("pick", "websocket", env=environ)
    terminal.wait("→0 user")
    assert not [code for code in range(30, 48) if f"\x1b[{code}m".encode() in terminal.written]
    assert b"\x1b[1;4m" in terminal.written


def test_wide_characters_keep_the_columns(home: Path, start: Start) -> None:
    pi_session("wide", "日記アプリの検索を直す 👩‍👩‍👧 🎉 kingfisher " * 5, cwd="/w/日記")
    terminal = start("pick", "kingfisher", columns=120)
    terminal.wait("→0 user")
    bars = {row.index("│") for row in terminal.screen.display[2:-1]}
    assert len(bars) <= 3  # a wide character is one of two cells in a row of pyte's
    columns = {number for number in range(120) if terminal.screen.buffer[5][number].data == "│"}
    assert all(terminal.screen.buffer[row][column].data == "│" for row in range(2, 23) for column in columns)


def test_a_hostile_session_controls_nothing(home: Path, start: Start) -> None:
    pi_session(
        "hostile", "kingfisher \x1b]0;owned\x07 \x1b[2J\x1b[?1049l \x9b31m\x1bc \u202edoom", cwd="/w/\x1b[31mred"
    )
    terminal = start("pick", "kingfisher", columns=120)
    terminal.wait("→0 user")
    assert b"owned" not in terminal.written
    assert b"\x1b[31m" not in terminal.written
    assert b"\x1bc" not in terminal.written
    assert "\u202e".encode() not in terminal.written
    assert terminal.written.count(b"\x1b[?1049l") == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_leaves_the_terminal_as_it_was(indexed_sessions: Path, start: Start, number: int) -> None:
    terminal = start()
    terminal.wait("9 sessions")
    terminal.signal(number)
    assert terminal.end() == 128 + number
    assert terminal.is_echoing()
    assert terminal.written.endswith(b"\x1b[?1049l")


def test_an_invalid_configuration_is_an_error_on_a_terminal_as_it_was(home: Path, start: Start) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{"bakend": 1}')
    terminal = start()
    assert terminal.end() == 1
    assert b"did you mean 'backend'?" in terminal.written.rpartition(b"\x1b[?1049l")[2]
    assert terminal.is_echoing()


def test_a_damaged_index_is_told_in_place_of_the_list(indexed_sessions: Path, start: Start) -> None:
    (file,) = indexed_sessions.rglob("index.sqlite")
    file.write_bytes(b"this is no database, and long enough to be read as one" * 100)
    terminal = start("pick", "websocket")
    terminal.wait("no answer")
    terminal.wait("file is not a database")
    terminal.send(ESC)
    assert terminal.end() == 130


def test_without_a_terminal_pick_is_one_line_and_sesame_alone_is_the_help(indexed_sessions: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        # A session of its own has no terminal that could be opened.
        return subprocess.run(
            [*SESAME, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True
        )

    done = run("pick", "websocket")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "sesame: the picker needs a terminal; to search without one: sesame search QUERY\n"
    assert "Usage: " in run().stdout + run().stderr


def test_a_dumb_terminal_gets_the_help_and_an_error(indexed_sessions: Path, start: Start) -> None:
    terminal = start(env={"TERM": "dumb"}, rows=100)
    terminal.wait("Usage: ")
    terminal = start("pick", env={"TERM": "dumb"}, columns=200)
    assert terminal.end() == 1
    assert b"the picker needs a terminal that can move its cursor, and TERM is 'dumb'" in terminal.written


def test_a_module_of_the_current_directory_is_not_imported(
    indexed_sessions: Path, tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    terminal = start()
    terminal.wait("9 sessions")
    terminal.wait(lambda: "indexing" not in terminal.text)
    assert not (tmp_path / "imported").exists()
