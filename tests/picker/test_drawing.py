"""Screens of every size, made from a state: nothing is wider than it may be, and nothing of a session controls it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sesame_core import Chunk, StoredSession
from sesame_core.picker import preview
from sesame_core.picker.ages import age
from sesame_core.picker.drawing import counted, screen
from sesame_core.picker.finder import Found, Loaded
from sesame_core.picker.layout import layout
from sesame_core.picker.preview import Preview
from sesame_core.picker.spans import SELECTED, STYLES, Row, has_colour, painted
from sesame_core.picker.state import State
from sesame_core.query.parser import parse
from sesame_core.rendering.calls import Line
from sesame_core.rendering.screen.folding import CALL, INJECTED, OUTPUT, lines_of
from sesame_core.text.cells import cells
from sesame_core.types.answer import Answer, Hit, Passage, Snippet
from sesame_core.types.transcript import Notes, Session

SIZES = [(1, 1), (10, 3), (20, 6), (40, 12), (40, 24), (80, 24), (99, 30), (100, 12), (120, 40), (300, 60)]
TITLES = {
    "plain": "Fix the flaky publish job",
    "long": "word " * 80,
    "one long word": "x" * 300,
    "cjk": "日記アプリの検索で二文字の単語が見つかりません" * 3,
    "emoji": "👩‍👩‍👧 👍🏽 ❤️ 🎉 fox " * 9,
    "combining": "e\u0301" * 90,
    "escapes": "\x1b[2J\x1b]0;owned\x07fox\x1b[31m red\x1bc\x9b1m\x1bP+q\x1b\\ \x1b_x\x1b\\",
    "bidi": "\u202efox\u2066 \u200fיום\u202c",
    "tabs and line feeds": "one\ttwo\nthree\r\nfour\x0bfive\u2028six",
    "nothing": "",
    "surrogate": "a\udc80b",
}


def hit_of(title: str, number: int = 0, text: str = "") -> Hit:
    session = Session(
        id=f"{number:08d}-0000",
        agent="claude-code",
        title=title or None,
        cwd=f"/w/{title}" if title else None,
        key=f"w:claude-code:{number}",
        modified=datetime.now(UTC) - timedelta(days=number),
    )
    chunk = Chunk(kind="message", role="user", text=text or title, seq=3)
    stored = StoredSession(number=number, session=session, path="/w/a.jsonl")
    snippet = Snippet(title)
    return Hit(
        stored=stored,
        score=1,
        snippet=snippet,
        chunk=chunk,
        passages=[Passage(number=number, chunk=chunk, snippet=snippet)],
    )


def state_of(*titles: str, query: str = "fox", notes: tuple[str, ...] = ()) -> State:
    state = State(query)
    hits = [hit_of(title, number) for number, title in enumerate(titles)]
    answer = Answer(query=parse(query), hits=hits, total=len(hits))
    state.take(Found(query, 30, answer, notes))
    if hits:
        chunks = [Chunk(kind="message", role="user", text=title, seq=number + 3) for number, title in enumerate(titles)]
        state.loaded = Loaded(hits[0], hits[0].stored, chunks, 3)
    return state


def bare(row: str) -> str:
    """A row without its styles, which are the only sequences that it may have."""
    for style in {code for pair in STYLES.values() for code in pair if code}:
        for code in (style, f"{style};{SELECTED}"):
            row = row.replace(f"\x1b[{code}m", "")
    return row.replace("\x1b[0m", "").replace(f"\x1b[{SELECTED}m", "")


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("colour", [True, False])
def test_every_row_of_a_screen_of_any_size_is_as_wide_as_the_screen(size: tuple[int, int], colour: bool) -> None:
    columns, rows = size
    for texts in (TITLES.values(), ()):
        for notes in ((), ("Note: " + "long " * 50, "Note: 日記" * 30)):
            state = state_of(*texts, notes=notes)
            drawn, (row, column) = screen(state, layout(columns, rows), colour=colour)
            assert len(drawn) == rows
            assert {cells(bare(one)) for one in drawn} == {columns}
            assert (row, column < columns) == (0, True)
            state.help = 0
            helped, _ = screen(state, layout(columns, rows), colour=colour)
            assert {cells(bare(one)) for one in helped} == {columns}


@pytest.mark.parametrize("name", TITLES)
def test_no_text_of_a_session_controls_the_terminal(name: str) -> None:
    state = state_of(TITLES[name], "other")
    for message in (TITLES[name], ""):
        state.say(message)
        for columns, rows in SIZES:
            for row in screen(state, layout(columns, rows), colour=True)[0]:
                assert not [c for c in bare(row) if c < " " or "\x7f" <= c <= "\x9f"]
                assert not set(row) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


@pytest.mark.parametrize("query", ["x" * 500, "日本語 " * 60, "", "fox"])
@pytest.mark.parametrize("columns", [10, 40, 80])
def test_the_cursor_is_on_the_screen_wherever_it_is_in_a_long_line(query: str, columns: int) -> None:
    state = State(query)
    for place in (0, len(query) // 2, len(query)):
        state.line.cursor = place
        drawn, (_, column) = screen(state, layout(columns, 10), colour=False)
        assert 2 <= column < columns
        assert cells(bare(drawn[0])) == columns


def test_the_selected_session_is_always_in_the_list() -> None:
    state = state_of(*(f"title {number:02}" for number in range(50)))
    for size in ((80, 24), (120, 12), (40, 8)):
        for number in (0, 20, 49, 25, 3):
            state.select(number)
            drawn, _ = screen(state, layout(*size), colour=False)
            assert any(f"title {number:02}" in row and bare(row).startswith("> ") for row in drawn[2:])


def test_words_of_the_query_are_marked_in_the_title_and_the_passage_also_without_colours() -> None:
    state = state_of("the red Foxes run")
    for colour, mark in ((True, "1;33"), (False, "1;4")):
        text = "\n".join(screen(state, layout(80, 24), colour=colour)[0])
        assert f"\x1b[{mark};7mFoxes\x1b[0m" in text
        assert f"\x1b[{mark}mFoxes\x1b[0m" in text


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"CLICOLOR": "0"}, False),
        ({"CLICOLOR": "1"}, True),
    ],
)
def test_colours_follow_the_variables_that_other_programs_follow(environ: dict[str, str], wanted: bool) -> None:
    assert has_colour(environ) is wanted


def test_the_same_session_stays_selected_when_others_come_before_it() -> None:
    state = state_of("a", "b", "c")
    state.select(1)
    hits = [hit_of("new", 9), *state.hits]
    state.take(Found("fox", 30, Answer(query=parse("fox"), hits=hits, total=4)))
    assert state.hit is not None
    assert state.hit.session.name == "b"
    state.take(Found("foxes", 30, Answer(query=parse("foxes"), hits=hits, total=4)))
    assert state.selected == 0


def test_a_row_of_the_list_follows_the_selection_and_the_star() -> None:
    state = state_of("a", "b")

    def listed() -> list[str]:
        return [row[:43].rstrip() for row in screen(state, layout(120, 8), colour=False)[0][2:4]]

    assert [row[:2] for row in map(bare, listed())] == ["> ", "  "]
    state.select(1)
    assert [row[:2] for row in map(bare, listed())] == ["  ", "> "]
    assert not any("★" in row for row in listed())
    state.hits[1].session.notes = Notes(name="", description="", summary="", is_starred=True)
    assert [("★" in row) for row in listed()] == [False, True]


def test_an_answer_brings_the_preview_of_its_first_session() -> None:
    state = state_of("a", "b")
    hit = hit_of("c", 5)
    loaded = Loaded(hit, hit.stored, [Chunk(kind="message", role="user", text="the cassowary runs", seq=3)], 3)
    state.take(Found("cassowary", 30, Answer(query=parse("cassowary"), hits=[hit], total=1), loaded=loaded))
    assert any("the cassowary runs" in row for row in map(bare, screen(state, layout(120, 20), colour=False)[0]))


def test_a_session_that_is_gone_leaves_the_selection_where_it_was() -> None:
    state = state_of("a", "b", "c")
    state.select(2)
    state.take(Found("fox", 30, Answer(query=parse("fox"), hits=list(state.hits[:1]), total=1)))
    assert state.selected == 0
    state.take(Found("fox", 30, None, error="the index cannot be read"))
    assert state.hit is None
    assert "the index cannot be read" in "".join(screen(state, layout(80, 24), colour=False)[0])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(query=parse("x"), hits=[hit_of("a")], total=1), "1 session"),
        (Answer(query=parse("x"), hits=[hit_of("a")], total=9), "1 of 9 sessions"),
        (Answer(query=parse("x"), hits=[hit_of("a")], total=9, is_truncated=True), "1 of at least 9 sessions"),
        (Answer(query=parse("x"), hits=[hit_of("a")], total=1, is_weak=True), "1 session · weak match"),
        (Answer(query=parse(""), hits=[hit_of("a")], total=9, mode="browse"), "1 of 9 sessions, latest first"),
        (Answer(query=parse("x"), hits=[], total=0, is_weak=True), "0 sessions"),
    ],
)
def test_the_second_row_says_how_many_there_are_and_whether_they_are_weak(answer: Answer, told: str) -> None:
    state = State("x")
    assert counted(state) == "opening the index …"
    state.take(Found("x", 30, answer))
    assert counted(state) == told


# -- the preview ------------------------------------------------------------------------------------------


def text_of(rows: list[Row]) -> list[str]:
    return ["".join(text for text, _ in row) for row in rows]


def rows_of(*chunks: Chunk, query: str = "fox", position: int | None = None, is_unfolded: bool = False) -> list[str]:
    made = Preview(chunks, parse(query), 60, position=position, is_unfolded=is_unfolded)
    return text_of(list(made.window(0, 10_000)[0]))


def test_the_output_of_a_tool_is_folded_to_its_first_lines() -> None:
    lines = [f"line {number}" for number in range(100)]
    chunk = Chunk(kind="tool_result", role="tool", tool_name="Bash", text="\n".join(lines))
    rows = rows_of(chunk)
    assert rows == ["#0 Bash result", *lines[:OUTPUT], "… 97 more lines"]
    assert rows_of(chunk, is_unfolded=True)[1:] == lines


def test_a_passage_deep_in_an_output_is_shown_with_what_is_around_it() -> None:
    lines = [f"line {number}" for number in range(100)]
    lines[70] = "the fox is here"
    chunk = Chunk(kind="tool_result", role="tool", tool_name="Bash", text="\n".join(lines))
    assert rows_of(chunk, position=0)[1:4] == ["… 69 lines above", "line 69", "the fox is here"]
    assert not any("fox" in row for row in rows_of(chunk))


def test_the_lines_with_the_most_words_are_shown_of_a_passage() -> None:
    text = "\n".join(["fox", *["-"] * 50, "quick brown fox", *["-"] * 50])
    chunk = Chunk(kind="tool_result", role="tool", tool_name="Bash", text=text)
    assert "quick brown fox" in rows_of(chunk, query="quick brown fox", position=0)


def test_a_call_is_shown_as_people_write_it() -> None:
    call = Chunk(
        kind="tool_call",
        role="assistant",
        tool_name="Bash",
        text="tool: Bash\ncommand: npm test\ndescription: run them",
    )
    assert rows_of(call)[1] == "$ npm test  # run them"
    long = Chunk(
        kind="tool_call", role="assistant", tool_name="Write", text="tool: Write\npath: a\ncontent:\n" + "x\n" * 50
    )
    assert len(rows_of(long)) == CALL + 2


def test_injected_text_is_folded_and_an_answer_is_not() -> None:
    text = "\n".join("abcdefgh")
    assert len(rows_of(Chunk(kind="message", role="system", text=text))) == INJECTED + 2
    assert len(rows_of(Chunk(kind="message", role="assistant", text=text))) == 9


def test_a_text_of_a_megabyte_on_one_line_is_shown_as_far_as_it_fits() -> None:
    rows = rows_of(Chunk(kind="message", role="assistant", text="fox " * 250_000), position=0)
    assert len(rows) < 100
    assert rows[-1] == "… 998000 more characters"


def test_rows_are_made_only_as_far_as_they_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [Chunk(kind="message", role="user", text=f"text {number}", seq=number) for number in range(50)]
    read: list[int] = []

    def lines(chunk: Chunk) -> list[Line]:
        read.append(chunk.seq)
        return lines_of(chunk)

    monkeypatch.setattr(preview, "lines_of", lines)
    made = Preview(chunks, parse("fox"), 60, position=20)
    shown, scrolled = made.window(0, 10)
    assert text_of(list(shown))[3:5] == ["→20 user", "text 20"]
    assert (scrolled, sorted(read)) == (0, [19, 20, 21, 22])
    shown, scrolled = made.window(-500, 10)
    assert (text_of(list(shown))[1], scrolled) == ("text 0", -57)
    shown, scrolled = made.window(500, 10)
    assert text_of(list(shown))[-1] == "text 49"
    assert sorted(read) == [*range(50)]


def test_a_passage_near_an_end_of_a_session_is_not_at_a_third_of_the_height() -> None:
    chunks = [Chunk(kind="message", role="user", text=f"text {number}", seq=number) for number in range(50)]
    first, scrolled = Preview(chunks, parse("fox"), 60, position=0).window(0, 10)
    assert (text_of(list(first))[:2], scrolled) == (["→0 user", "text 0"], 0)
    last, scrolled = Preview(chunks, parse("fox"), 60, position=49).window(0, 10)
    assert (text_of(list(last))[-2:], scrolled) == (["→49 user", "text 49"], -5)
    for every in (first, last):
        assert len(every) == 10


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "now"),
        (-5, "now"),
        (59, "now"),
        (60, "1m"),
        (7200, "2h"),
        (86400 * 6, "6d"),
        (86400 * 13, "1w"),
        (86400 * 200, "6mo"),
        (86400 * 364, "11mo"),
        (86400 * 800, "2y"),
    ],
)
def test_an_age_is_short(seconds: int, told: str) -> None:
    now = datetime(2026, 11, 29, tzinfo=UTC)
    assert age(now - timedelta(seconds=seconds), now) == told
    assert age(None) == ""


def test_a_row_is_filled_or_cut_to_its_width() -> None:
    assert painted([("ab", "")], 4, colour=True) == "ab  "
    assert painted([("日記アプリ", "")], 4, colour=True) == "日… "
    assert painted([("ab", ""), ("cd", "")], 2, colour=True) == "a…"
