"""Sessions with something of extreme size or spelling, as pi writes them."""

from __future__ import annotations

from collections.abc import Iterator

from .transcripts import Pi, Record, write

#: A text of each kind whose bytes, characters, and characters of JSON differ, and that is repeated.
PIECES = {
    "ascii": "a fox in the box ",
    "cjk": "狐狸在箱子裡 ",
    "emoji": "🦊👩‍👩‍👧 ",
    "control": "\x01\x1b[2J",
    "quotes": '"\\\n\t',
    "accents": "füchsÄ",
}


def _records(name: str, pi: Pi) -> Iterator[Record]:
    piece = PIECES.get(name.partition("-")[0], "fox ")
    long = piece * (10_000 // len(piece))
    match name.partition("-")[2]:
        case "message":
            yield from (pi.user("the fox"), pi.answer(piece * (150_000 // len(piece))), pi.user("and then?"))
        case "title":
            yield from (pi.entry("session_info", name=long), pi.user("the fox " + long), pi.answer("fox"))
        case "messages":
            yield from (pi.user(f"fox {n}") for n in range(3_000))
        case "tools":
            for n in range(400):
                yield pi.call(f"tool_{n}_{'x' * (40 + n % 3 * 200)}", f"call_{n}", path=f"/fox/{n}")
                yield pi.result("fox", f"tool_{n}_{'x' * 40}", f"call_{n}")
        case "names":
            yield from (pi.call(long, "c1", path=long), pi.result("fox", long, "c1"), pi.user("fox"))
        case "prompts":
            for n in range(12):
                yield pi.user(f"fox {n} {long}")
                yield pi.answer(f"fox {n} {long}")


KINDS = [
    *(f"{piece}-{what}" for piece in PIECES for what in ("message", "title")),
    *("fox-messages", "fox-tools", "fox-names", "cjk-names", "control-names", "fox-prompts", "control-prompts"),
]


def write_all() -> list[str]:
    """Write all of them, and return their ids."""
    ids = []
    for number, name in enumerate(KINDS):
        pi = Pi(f"{number:08x}-fox")
        header = pi.header(cwd="/home/bo/" + "狐" * 900) if name.endswith("title") else pi.header()
        write(pi.path, header, *_records(name, pi))
        ids.append(pi.session)
    return ids
