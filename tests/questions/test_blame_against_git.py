"""Precision and recall of blame on repositories whose truth is known from their commits.

Sessions of several agents write files, change, rename and move them; people change them, too, and a formatter runs.
The truth is what `git blame` says, which ignores white space, follows moved lines, and passes over the formatter.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.questions.ownership import is_telling, key

from ..support.histories import FORMS, History, Recorded

pytestmark = pytest.mark.once

#: Steps of a story; sessions and people.
STEPS = 70
WRITERS = ("ant", "bee", "cat", "dog", "elk")
#: Words of which lines are made.
WORDS = "retry backoff socket session cursor buffer parser packet header window render stream token value".split()


class Story:
    """A repository that grows at random."""

    def __init__(self, place: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.history = History(place)
        self.files: list[str] = []
        self.formatted: list[str] = []
        self._count = 0
        self._sessions: dict[str, Recorded] = {}
        for _ in range(3):
            self.new_file()
        steps = (self.insert, self.insert, self.insert, self.change, self.change, self.delete, self.by_hand)
        more = (self.new_file, self.rename, self.rename_by_hand, self.move, self.write_again, self.format, self.append)
        for _ in range(STEPS):
            self.random.choice((*steps, *steps, *more))()
        self.history.save()

    def session(self) -> Recorded:
        """Return one of the sessions; each is used for a while."""
        name = f"s-{self.random.choice(WRITERS)}-{self._count // 40}"
        if name not in self._sessions:
            self._sessions[name] = self.history.session(name, agent=name.split("-")[1])
        self._sessions[name].asks("go on")
        return self._sessions[name]

    def line(self) -> str:
        """Return a line: mostly its own, sometimes one that occurs everywhere."""
        self._count += 1
        if self.random.random() < 0.1:
            return self.random.choice(["    return None", "    pass", "    continue", "    result = []"])
        one, other = self.random.sample(WORDS, 2)
        return f"    {one}_{self._count} = {other}('{one}', {self._count})"

    def function(self) -> list[str]:
        """Return a function of a few lines."""
        self._count += 1
        head = f"def {self.random.choice(WORDS)}_{self._count}():"
        return [head, *(self.line() for _ in range(self.random.randint(2, 6))), "    return None", ""]

    def lines(self, path: str) -> list[str]:
        return self.history.read(path).split("\n")

    def place(self, path: str) -> str:
        """Return a file as a call names it: absolute, or relative."""
        return self.random.choice([str(self.history.root / path), path])

    def a_file(self) -> str:
        return self.random.choice(self.files)

    def unique(self, path: str) -> list[int]:
        """Return the numbers of the lines that a file has once."""
        lines = self.lines(path)
        return [n for n, line in enumerate(lines) if line.strip() and lines.count(line) == 1]

    # -- what sessions do --------------------------------------------------------------------------------

    def new_file(self) -> None:
        self._count += 1
        path = f"{self.random.choice(['src', 'src/core', 'lib'])}/{self.random.choice(WORDS)}_{self._count}.py"
        text = "\n".join(line for _ in range(self.random.randint(2, 4)) for line in self.function()) + "\n"
        self.session().writes(path, text, tool=self.random.choice(["Write", "write", "write_file", "create"]))
        self.files.append(path)

    def insert(self) -> None:
        path = self.a_file()
        if not (places := self.unique(path)):
            return
        anchor = self.lines(path)[self.random.choice(places)]
        new = self.function() if anchor.startswith("def ") else [self.line() for _ in range(self.random.randint(1, 4))]
        text = "\n".join([*new, anchor] if anchor.startswith("def ") else [anchor, *new])
        self._edit(path, anchor, text)

    def change(self) -> None:
        path = self.a_file()
        places = [n for n in self.unique(path) if not self.lines(path)[n].startswith("def ")]
        if places:
            self._edit(path, self.lines(path)[self.random.choice(places)], self.line())

    def delete(self) -> None:
        path = self.a_file()
        lines = self.lines(path)
        places = [n for n in self.unique(path)[:-1] if lines[n + 1].strip()]
        if places:
            n = self.random.choice(places)
            self._edit(path, f"{lines[n]}\n{lines[n + 1]}", lines[n + 1])

    def append(self) -> None:
        path = self.a_file()
        if not self.history.read(path).endswith("\n"):
            return
        body = "\n".join([f"# {self.random.choice(WORDS)} {self._count}", *self.function()[:-1]])
        self.session().runs(f"cat >> {path} <<'END'\n{body}\nEND")

    def write_again(self) -> None:
        path = self.a_file()
        lines = self.lines(path)
        n = self.random.randrange(len(lines))
        session = self.session()
        session.calls("Read", output="\n".join(lines), file_path=str(self.history.root / path))
        session.writes(path, "\n".join([*lines[:n], *self.function(), *lines[n:]]))

    def rename(self) -> None:
        path = self.a_file()
        self._count += 1
        new = f"{path.rsplit('/', 1)[0]}/{self.random.choice(WORDS)}_{self._count}.py"
        self.session().runs(f"git mv {path} {new}")
        self.files[self.files.index(path)] = new

    def move(self) -> None:
        """Move a function to another file: with edits of both."""
        source, target = self.a_file(), self.a_file()
        lines = self.lines(source)
        starts = [n for n, line in enumerate(lines) if line.startswith("def ")]
        if source == target or len(starts) < 2:
            return
        end = starts[1]
        body = "\n".join(lines[starts[0] : end])
        anchors = [n for n in self.unique(target) if self.lines(target)[n].startswith("def ")]
        if not anchors or self.history.read(source).count(body + "\n") != 1:
            return
        anchor = self.lines(target)[anchors[0]]
        session = self.session()
        session.edits(source, body + "\n", "", where=self.place(source))
        session.edits(target, anchor, f"{body}\n{anchor}", where=self.place(target))

    # -- what people do ----------------------------------------------------------------------------------

    def by_hand(self) -> None:
        path = self.a_file()
        lines = self.lines(path)
        n = self.random.randrange(len(lines))
        self.history.put(path, "\n".join([*lines[:n], self.line(), *lines[n:]]))
        self.history.commit("person")

    def rename_by_hand(self) -> None:
        path = self.a_file()
        self._count += 1
        new = f"{self.random.choice(['src', 'lib'])}/{self.random.choice(WORDS)}_{self._count}.py"
        self.history.git("mv", path, new)
        self.history.commit("person")
        self.files[self.files.index(path)] = new

    def format(self) -> None:
        """Indent with tabs or spaces, and quote with the other quotes."""
        path = self.a_file()
        text = self.history.read(path)
        text = text.replace("    ", "\t") if "    " in text else text.replace("\t", "    ")
        text = text.replace("'", '"') if "'" in text else text.replace('"', "'")
        self.history.put(path, text)
        self.formatted.append(self.history.commit("formatter"))

    def _edit(self, path: str, old: str, new: str) -> None:
        if self.history.read(path).count(old) == 1 and old != new:
            form = self.random.choice(FORMS)
            self.session().edits(path, old, new, form=form, where=self.place(path))


@pytest.mark.parametrize("seed", range(2))
def test_a_repository_that_sessions_and_people_wrote(tmp_path: Path, home: Path, seed: int) -> None:
    story = Story(tmp_path, seed)
    #: By kind of line: whether the file has it once.
    counts = {is_once: Counter[str]() for is_once in (True, False)}
    source = Source(parser=Selection(name="sesame"), path=story.history.source)
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        sesame.index()
        for path in story.files:
            truth = story.history.authors(path, story.formatted)
            found = sesame.blame(str(story.history.root / path))
            names = {
                n: run.writers[0].stored.session.id
                for run in found.runs
                if run.writers
                for n in range(run.first, run.last + 1)
            }
            keys = list(map(key, found.text))
            for n, (author, own) in enumerate(zip(truth, keys, strict=True), 1):
                if is_telling(own) and author != "formatter":
                    counts[keys.count(own) == 1][judged(names.get(n), author)] += 1
    for is_once, least in ((True, 0.98), (False, 0.8)):
        of = counts[is_once]
        precision = of["right"] / (of["right"] + of["wrong"] + of["a person's"])
        recall = of["right"] / (of["right"] + of["wrong"] + of["missed"])
        often = "once" if is_once else "often"
        print(f"seed {seed}, lines that are {often} there: {dict(of)} {precision:.3f} {recall:.3f}")
        assert precision > least
        assert recall > least
    assert counts[True]["right"] > 80


def judged(name: str | None, author: str) -> str:
    """Return how an answer is, next to the truth."""
    if author == "person":
        return "a person's" if name else "a person's, and not known"
    return "right" if name == author else "wrong" if name else "missed"
