from collections.abc import Iterator
from datetime import datetime
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
            try:
                _, _, session_id, time, cwd = file.readline().rstrip("\n").split(" ", 4)
                created = datetime.strptime(time, "%Y-%m-%dT%H:%M:%S%z")
            except ValueError:
                raise ParseError(path, "the first line is not 'xyz 1 <id> <time> <cwd>'", line=1) from None
            yield Session(id=session_id, agent="xyz", cwd=cwd, created=created)
            for number, line in enumerate(file, start=2):
                role = ROLES.get(line[:2])
                if role:
                    yield Message(session_id=session_id, role=role, text=line[2:].rstrip("\n"))
                elif line.strip():
                    yield Skipped(reason="unknown line", line=number)
