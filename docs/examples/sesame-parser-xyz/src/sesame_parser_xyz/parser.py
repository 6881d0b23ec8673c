from collections.abc import Iterator
from pathlib import Path

from sesame_core import Event, Message, ParseError, Session, Skipped

ROLES = {"> ": "user", "< ": "assistant"}


class XyzParser:
    version = 1

    def default_roots(self) -> list[Path]:
        return [Path.home() / ".xyz" / "sessions"]

    def matches(self, path: Path) -> bool:
        if path.suffix != ".xyz":
            return False
        with path.open("rb") as file:
            return file.read(6) == b"xyz 1 "

    def parse(self, path: Path) -> Iterator[Event]:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            header = file.readline().rstrip("\n").split(" ", 3)
            if len(header) < 4 or header[:2] != ["xyz", "1"]:
                raise ParseError(path, "the first line is not 'xyz 1 <id> <cwd>'", line=1)
            session_id, cwd = header[2:]
            yield Session(id=session_id, agent="xyz", cwd=cwd)
            for number, line in enumerate(file, start=2):
                role = ROLES.get(line[:2])
                if role:
                    yield Message(session_id=session_id, role=role, text=line[2:].rstrip("\n"))
                elif line.strip():
                    yield Skipped(reason="unknown line", line=number)
