"""A week of two people with one database: after each step a dump has what it should, and nothing else of anyone.

Real processes with homes of their own, and a server with the roles of the guide.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from ..plugins.sesame_backend_postgres.logins import GUIDE
from ..plugins.sesame_backend_postgres.workstation import Workstation
from ..support.pages import block_with
from ..support.postgres_server import Server, find_binaries
from ..support.transcripts import Claude, Pi, append, write

pytestmark = pytest.mark.once

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
PASSWORD = "Winter2026ab"


@dataclass
class Story:
    """A session, with a word of its own in each place that may have one."""

    name: str
    made: Claude | Pi
    path: Path
    #: What others may see of it; None: nothing.
    level: str | None
    #: What its directory is called nowhere else.
    place: str
    texts: list[str] = field(default_factory=list)

    def words(self) -> list[str]:
        """Return the words that are in its texts, its title and its branch."""
        return sorted({word for text in self.texts for word in re.findall(r"[a-z]+qx\b", text)})


class Person(Workstation):
    """A workstation with the agents' own directories; nothing is agreed to unless a command says so."""

    def configure(self, **options: object) -> None:
        """Write config.jsonc: whatever the agents have is a source."""
        backend = {"name": "postgres", "options": {"dsn": self.dsn, **options}}
        config = self.home / "config" / "config.jsonc"
        config.parent.mkdir(exist_ok=True)
        config.write_text(json.dumps({"backend": backend, "refreshSeconds": 30}))
        # As if the machine were renamed.
        (self.home / "python").mkdir(exist_ok=True)
        renamed = "import os, socket\nif name := os.environ.get('TEST_HOST'):\n    socket.gethostname = lambda: name\n"
        (self.home / "python" / "sitecustomize.py").write_text(renamed)

    def command(self, *arguments: object) -> tuple[list[str], dict[str, str]]:
        """Return a command line and its environment."""
        command, environment = super().command("", *arguments)
        command.remove("")
        environment["PYTHONPATH"] = str(self.home / "python")
        return command, environment

    def story(self, name: str, level: str | None, *, agent: str = "claude", cwd: str | None = None) -> Story:
        """Write a session that is in a directory of its own, unless another one is given."""
        cwd = cwd or f"/home/{self.name}/{name}qd"
        texts = [f"{kind}{name}qx" for kind in ("ask", "answer", "title", "output", "branch")]
        number = int(hashlib.sha256(f"{self.name}{name}".encode()).hexdigest()[:12], 16)
        session = f"{number:012x}"[:8] + f"-1111-4111-8111-{number:012x}"
        made: Claude | Pi = Claude(session, cwd) if agent == "claude" else Pi(session, cwd)
        story = Story(name, made, self.home / made.path.relative_to(Path.home()), level, f"{name}qd", texts)
        self.rewrite(story)
        return story

    def rewrite(self, story: Story, *more: str, path: Path | None = None, **first: Any) -> None:
        """Write a session's file anew, with more that is said."""
        made, texts = story.made, story.texts
        made._count, made.last = 0, None
        ask, answer, title, output, branch = (f"{text} of the session" for text in texts[:5])
        if isinstance(made, Claude):
            fields = {"gitBranch": branch}
            records = [
                made.user(ask, **fields, **first),
                made.answer(answer, **fields),
                made.call("Read", file_path=f"{made.cwd}/{texts[3]}.txt") | fields,
                made.result(output) | fields,
                made.note("custom-title", customTitle=title),
            ]
        else:
            call = made.call("bash", command=f"cat {made.cwd}/{branch}")
            records = [made.header(**first), made.user(ask), made.answer(answer), call, made.result(output)]
            records.append(made.entry("session_info", name=title))
        story.texts += [word for text in more for word in re.findall(r"[a-z]+qx\b", text)]
        story.path = path or story.path
        write(story.path, *records, *(made.user(text) for text in more))

    def say(self, story: Story, text: str) -> None:
        """Go on with a session."""
        story.texts += re.findall(r"[a-z]+qx\b", text)
        branch = {"gitBranch": f"{story.texts[4]} of the session"} if isinstance(story.made, Claude) else {}
        append(story.path, story.made.user(text, **branch))


@dataclass
class Week:
    """Two people, their server, and all of their sessions."""

    server: Server
    binaries: Path
    ann: Person
    ben: Person
    stories: dict[str, Story] = field(default_factory=dict)
    #: Texts that may be nowhere in a dump, whatever else is.
    secrets: list[str] = field(default_factory=list)

    def tell(self, *stories: Story) -> None:
        for story in stories:
            self.stories[story.name] = story

    def program(self, name: str, *arguments: str) -> str:
        """Run a program of PostgreSQL as the server's superuser."""
        environment = {**os.environ, "PGOPTIONS": "", "PGCLIENTENCODING": "UTF8"}
        command = [str(self.binaries / name), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def dsn(self) -> str:
        return make_conninfo(self.server.dsn, dbname="sesame")

    def dump(self) -> str:
        """Return everything that is in the database, as a superuser."""
        return self.program("pg_dump", f"--dbname={self.dsn}", "--no-owner")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.dsn, autocommit=True) as db:
            found = db.execute(sql)  # type: ignore[call-overload]
            return list(found.fetchall()) if found.description else []

    def lacks(self, *words: str) -> None:
        """Check that words are nowhere in a dump."""
        lines = self.dump().splitlines()
        assert [line[:200] for line in lines if any(word in line for word in words)] == []

    def holds(self) -> None:
        """Check that a dump has of each session what others may see, and nothing else."""
        text = self.dump().lower()
        wrong = []
        for story in self.stories.values():
            said = {word: word in text for word in story.words()}
            facts = {"id": story.made.session in text, "place": story.place in text}
            if story.level != "shared":
                wrong += [f"{story.name}: {word}" for word, is_there in said.items() if is_there]
                wrong += [f"{story.name}: a hash of {what}" for what in hashed(text, texts_of(story))]
            elif not all(said.values()):
                wrong.append(f"{story.name}: lacks {[word for word, is_there in said.items() if not is_there]}")
            if story.level is None:
                wrong += [f"{story.name}: its {name}" for name, is_there in facts.items() if is_there]
                wrong += [f"{story.name}: a hash of {what}" for what in hashed(text, facts_of(story))]
            elif not all(facts.values()):
                wrong.append(f"{story.name}: lacks {facts}")
        wrong += [f"a secret: {secret}" for secret in self.secrets if secret.lower() in text]
        wrong += [f"a hash of a secret: {what}" for what in hashed(text, self.secrets)]
        assert wrong == []


def texts_of(story: Story) -> list[str | bytes]:
    """Return what someone who knows a text of a session could look for by its hash."""
    found: list[str | bytes] = [*story.texts, *(f"{text} of the session" for text in story.texts)]
    if story.path.exists():
        raw = story.path.read_bytes()
        found += [raw, raw[:4096], raw[-4096:], *raw.splitlines(), *raw.splitlines(keepends=True)]
    return found


def facts_of(story: Story) -> list[str | bytes]:
    found: list[str | bytes] = [str(story.path), story.path.name, story.made.cwd, story.made.session]
    return [*found, *re.findall(r'"(?:uuid|id)": "([^"]+)"', story.path.read_text() if story.path.exists() else "")]


def hashed(dump: str, values: list[str] | list[str | bytes]) -> list[str]:
    """Return the values of which a hash without a key is in a dump: whole, its first half, or as a number."""
    found = []
    for value in values:
        raw = value.encode() if isinstance(value, str) else value
        digests = [hashlib.new(name, raw).digest() for name in ("md5", "sha1", "sha256", "sha512")]
        digests += [hashlib.blake2b(raw, digest_size=size).digest() for size in (8, 16, 32, 64)]
        numbers = {
            int.from_bytes(digest[:8], order) & (1 << 63) - 1 for digest in digests for order in ("big", "little")
        }
        short = hashlib.sha256(raw).hexdigest()[:8]
        looked_for = [digest.hex()[:16] for digest in digests] + [str(number) for number in numbers] + [f":{short}:"]
        looked_for += [base64.b64encode(digest).decode().lower()[:20] for digest in digests]
        if any(one in dump for one in looked_for):
            found.append(str(value)[:60])
    return found


@pytest.fixture
def week(tmp_path: Path, home: Path) -> Iterator[Week]:
    """A server as the guide sets it up, and two people who have sent nothing yet."""
    binaries = find_binaries()
    if binaries is None or not all((binaries / name).exists() for name in ("pg_dump", "pg_restore")):
        pytest.skip("stopping, dumping and restoring a server needs its programs on this machine")
    with Server(binaries) as server:
        with psycopg.connect(server.dsn, autocommit=True) as db:
            db.execute("CREATE ROLE sesame_owner LOGIN")
            db.execute("CREATE DATABASE sesame OWNER sesame_owner")
        owner = Workstation(
            "owner", tmp_path / "owner", make_conninfo(server.dsn, dbname="sesame", user="sesame_owner")
        )
        owner.configure()
        owner.ok("workstations", "--prepare")
        people = []
        with psycopg.connect(make_conninfo(server.dsn, dbname="sesame"), autocommit=True) as db:
            db.execute(block_with(GUIDE, "CREATE ROLE sesame_reader"))  # type: ignore[call-overload]
            for name in ("ann", "ben"):
                db.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'of {name}' IN ROLE sesame_writer")
                dsn = make_conninfo(server.dsn, dbname="sesame", user=name)
                person = Person(name, tmp_path / name, dsn, {"TEST_HOST": f"{name}-laptop"})
                person.home.mkdir()
                person.configure()
                people.append(person)
        yield Week(server, binaries, *people)


def writing(person: Person) -> subprocess.Popen[str]:
    """Start a process of a person that writes until its input ends."""
    _, environment = person.command()
    code = (
        "import sys\nfrom sesame_core import Sesame\nwith Sesame() as sesame, sesame.writer():\n"
        "    print('writing', flush=True)\n    sys.stdin.read()\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "writing\n"
    return started


def test_a_week_of_two_people(week: Week) -> None:
    ann, ben = week.ann, week.ben
    for day in (monday, tuesday, wednesday, thursday, friday, saturday, sunday):
        day(week, ann, ben)


def monday(week: Week, ann: Person, ben: Person) -> None:
    """Rules before the first send; secrets; a session that is forgotten."""
    week.secrets = [TOKEN, PASSWORD]
    week.tell(
        ann.story("diary", None, agent="pi"),
        ann.story("letters", None),
        ann.story("client", None),
        ann.story("work", None),
        ann.story("plans", None, agent="pi"),
        ann.story("slip", None),
    )
    work = week.stories["work"]
    ann.say(work, f"export GITHUB_TOKEN={TOKEN} and DB_PASSWORD={PASSWORD} for secretsqx")
    week.tell(ben.story("recipes", None), ben.story("songs", None, agent="pi"))
    assert "nothing is sent" in ann.ok("share", "*/diaryqd", "private")
    week.holds()
    ann.ok("share", "*/lettersqd", "private")
    ann.ok("share", "*/clientqd", "metadata")
    ann.ok("search", "anything")
    assert ann.run("index").returncode == 1
    week.holds()
    assert week.rows("SELECT name FROM sesame.workstations") == []
    ann.ok("index", "--yes")
    for name, level in (("client", "metadata"), ("work", "shared"), ("plans", "shared"), ("slip", "shared")):
        week.stories[name].level = level
    week.holds()
    ben.ok("index", "--yes")
    week.stories["recipes"].level = week.stories["songs"].level = "shared"
    week.holds()
    assert {key.rpartition(":")[2] for key in ben.found("askworkqx")} == {work.made.session}
    slip = week.stories.pop("slip")
    ann.ok("forget", "--yes", slip.made.session)
    week.lacks(*slip.words())
    assert ann.ok("share", "--dry-run") == "no sessions would change\n"


def tuesday(week: Week, ann: Person, ben: Person) -> None:
    """Rules that cannot be applied when they are made; forks and subagents of private sessions."""
    plans, work = week.stories["plans"], week.stories["work"]
    with writing(ann) as other:
        refused = ann.run("share", "*/plansqd", "private")
        assert (refused.returncode, "the next search or run applies it" in refused.stderr) == (1, True)
        week.holds()
        assert other.stdin is not None
        other.stdin.close()
        assert other.wait(30) == 0
    ann.ok("search", "anything")
    plans.level = None
    week.holds()
    week.server.stop()
    refused = ann.run("share", "*/workqd", "metadata")
    assert (refused.returncode, "The rule is kept" in refused.stderr) == (1, True)
    week.server.start()
    week.holds()
    ann.ok("search", "anything")
    work.level = "metadata"
    week.holds()
    ann.ok("share", "*/workqd", "default")
    work.level = "shared"
    week.holds()

    fork = ann.story("fork", None)
    diary = week.stories["letters"]
    ann.rewrite(fork, forkedFrom={"sessionId": diary.made.session, "messageUuid": "1"})
    branch = ann.story("branch", None, agent="pi")
    ann.rewrite(branch, parentSession=str(week.stories["diary"].path))
    week.tell(fork, branch)
    ann.ok("search", "anything")
    week.holds()


def wednesday(week: Week, ann: Person, ben: Person) -> None:
    """A session whose file moves from a private directory to a shared one and back; a backup."""
    moved = ann.story("moved", None, cwd=f"/home/ann/{week.stories['diary'].place}/movedqd")
    week.tell(moved)
    ann.ok("index")
    week.holds()
    home = moved.path
    move(ann, moved, "/home/ann/movedqd")
    ann.ok("index")
    moved.level = "shared"
    week.holds()
    move(ann, moved, f"/home/ann/{week.stories['diary'].place}/movedqd", path=home)
    ann.ok("search", "anything")
    moved.level = None
    week.holds()
    week.tell(ann.story("draft", "shared"), ann.story("notes", "shared", agent="pi"), ann.story("oops", "shared"))
    ann.ok("index")
    week.holds()
    backup = week.ann.home.parent / "wednesday.dump"
    week.program("pg_dump", f"--dbname={week.dsn}", "--format=custom", f"--file={backup}")


def move(person: Person, story: Story, cwd: str, path: Path | None = None) -> None:
    """Move a session with its directory, as who renames one does."""
    story.path.unlink()
    story.made.cwd = cwd
    made = story.made.path.relative_to(Path.home())
    person.rewrite(story, path=path or person.home / made)


def thursday(week: Week, ann: Person, ben: Person) -> None:
    """What was shared becomes private, or is forgotten."""
    ann.ok("share", "*/draftqd", "private")
    week.stories["draft"].level = None
    ann.ok("share", "*/notesqd", "metadata")
    week.stories["notes"].level = "metadata"
    ben.ok("share", "*/songsqd", "private")
    week.stories["songs"].level = None
    week.holds()
    oops = week.stories.pop("oops")
    ann.ok("forget", "--yes", oops.made.session)
    week.lacks(*oops.words())


def friday(week: Week, ann: Person, ben: Person) -> None:
    """Wednesday's backup is restored: the next runs remove again what has become private since."""
    with psycopg.connect(week.server.dsn, autocommit=True) as db:
        db.execute("DROP DATABASE sesame WITH (FORCE)")
        db.execute("CREATE DATABASE sesame OWNER sesame_owner")
    backup = week.ann.home.parent / "wednesday.dump"
    week.program("pg_restore", f"--dbname={week.dsn}", str(backup))
    assert "askdraftqx" in week.dump()
    assert "asksongsqx" in week.dump()
    ann.ok("index")
    ben.ok("index")
    week.holds()
    week.lacks("askoopsqx")
    assert ann.ok("share", "--dry-run") == "no sessions would change\n"


def saturday(week: Week, ann: Person, ben: Person) -> None:
    """A renamed machine, whose id is kept; later one with an id of its own."""
    ann.environment["TEST_HOST"] = "ann-desktop"
    assert " unchanged" in ann.ok("index")
    assert sorted(host for (host,) in week.rows("SELECT host FROM sesame.workstations")) == [
        "ann-desktop",
        "ben-laptop",
    ]
    ann.ok("share", "*/notesqd", "private")
    week.stories["notes"].level = None
    week.holds()
    ann.environment["SESAME_WORKSTATION_ID"] = "ann"
    ann.ok("index")
    week.holds()
    ann.ok("share", "*/workqd", "private")
    week.stories["work"].level = None
    week.holds()
    ann.ok("share", "*/workqd", "metadata")
    week.stories["work"].level = "metadata"
    week.holds()
    recipes = week.stories["recipes"]
    ben.say(recipes, "one more of saltqx")
    ben.environment["SESAME_WORKSTATION_ID"] = "ben"
    ben.ok("search", "anything")
    week.holds()
    recipes.made.cwd = f"/home/ben/{week.stories['songs'].place}"
    ben.say(recipes, "a song of pepperqx")
    ben.ok("index")
    recipes.level = None
    week.holds()


def sunday(week: Week, ann: Person, ben: Person) -> None:
    """Ben leaves: his sessions go, and then his login."""
    week.tell(ben.story("garden", "shared"))
    ben.ok("index")
    week.holds()
    assert ann.found("askgardenqx")
    for (name,) in week.rows("SELECT name FROM sesame.workstations WHERE role = 'ben'"):
        week.rows(f"DELETE FROM sesame.workstations WHERE name = '{name}'")
    week.rows("SELECT sesame.tidy(true)")
    week.rows("DROP ROLE ben")
    week.stories["garden"].level = None
    week.holds()
    week.lacks("ben-laptop", "recipesqd", "gardenqx")
    assert ben.run("index").returncode == 1
    ann.ok("index")
    week.holds()
