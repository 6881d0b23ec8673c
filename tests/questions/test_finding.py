"""Calls that did nothing, of which many follow one another."""

from __future__ import annotations

from random import Random

from sesame_core.questions.finding import RESULTS, refused
from sesame_core.testing import a_call, a_chunk, a_file, a_session
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.index import Chunk
from sesame_core.types.query import Filters

SESSIONS, CHUNKS = 6, 60


def a_stretch(random: Random) -> list[Chunk]:
    """Return calls with results somewhere behind them, some of which say that the call did nothing."""
    chunks: list[Chunk] = []
    waiting: list[str] = []
    while len(chunks) < CHUNKS:
        if waiting and random.random() < 0.5:
            call_id = waiting.pop(random.randrange(len(waiting)))
            result = a_chunk("no", kind="tool_result", role="tool", call_id=call_id, is_error=random.random() < 0.5)
            chunks.append(result)
        elif random.random() < 0.3:
            chunks.append(a_chunk("meanwhile", role="assistant"))
        else:
            # Ids of different sessions are alike, and one of a session may be used again.
            chunks.append(a_call("edit"))
            chunks[-1].call_id = f"c{random.randrange(20)}"
            waiting.append(chunks[-1].call_id)
    return chunks


def test_of_calls_that_follow_one_another_those_are_known_that_did_nothing() -> None:
    random = Random(7)
    backend = MemoryBackend()
    with backend.writer() as writer:
        for number in range(SESSIONS):
            writer.replace(a_file(f"/{number}"), a_session(*a_stretch(random), id=f"s{number}"))
        writer.finish(synced_at=None)
    reader = backend.reader()
    stored, _ = reader.list_sessions(Filters(), limit=SESSIONS)
    sessions = {one.number: reader.chunks([(one.number, 0, None)])[0] for one in stored}
    calls = [(number, chunk) for number, chunks in sessions.items() for chunk in chunks if chunk.kind == "tool_call"]
    random.shuffle(calls)
    expected = {
        (number, call.seq)
        for number, call in calls
        for after in sessions[number][call.seq + 1 : call.seq + 1 + RESULTS]
        if after.kind == "tool_result" and after.call_id == call.call_id and after.is_error
    }
    assert 0 < len(expected) < len(calls)
    assert refused(reader, calls) == expected
    few = calls[::5]
    assert refused(reader, few) == expected & {(number, call.seq) for number, call in few}
    assert refused(reader, []) == set()
