"""Text that people paste finds the session that holds it, whatever in it looks like an operator; on every backend."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sesame_core import Sesame

from ..support.every_backend import BACKENDS, indexed
from ..support.transcripts import found

TRACE = """Traceback (most recent call last):
  File "/srv/q.py", line 12, in <module>
    run(-x, "NOT")
KeyError: -1"""

#: What is pasted, what the wanted session says, and what another one says that has the other words only.
TABLE: tuple[tuple[str, str, str], ...] = (
    # -- NOT, AND and OR in sentences and messages
    (
        "NOT NULL constraint failed: users.email",
        "sqlite3.IntegrityError: NOT NULL constraint failed: users.email",
        "add a constraint to users so that duplicates fail",
    ),
    ("NOT gate", "draw a NOT gate with two transistors", "the gate of the garden is open since nobody has closed it"),
    (
        'ERROR: COLUMN "X" AND "Y" DO NOT MATCH',
        'it says ERROR: COLUMN "X" AND "Y" DO NOT MATCH in line 3',
        "the column x of the table is an error",
    ),
    ("HTTP 404 NOT FOUND for favicon", "GET /favicon.ico gives HTTP 404 NOT FOUND for favicon", "http favicon is fine"),
    ("CREATE TABLE IF NOT EXISTS widgets", "run CREATE TABLE IF NOT EXISTS widgets first", "create the table widgets"),
    ("the mutex is NOT released after panic", "the mutex is NOT released after panic", "mutex panic"),
    ("do NOT commit the lockfile", "please do NOT commit the lockfile", "the lockfile is stale"),
    (
        "WHERE deleted IS NOT NULL AND owner",
        "SELECT * FROM t WHERE deleted IS NOT NULL AND owner = 3",
        "the deleted rows are those of a former owner",
    ),
    ("FATAL: ROLE POSTGRES DOES NOT EXIST", "FATAL: ROLE POSTGRES DOES NOT EXIST", "fatal postgres role"),
    ("segment NOT aligned on page", "warning, segment NOT aligned on page 7", "a segment of the page"),
    ("assertion NOT satisfied in solver", "assertion NOT satisfied in solver.rs", "the assertion in the solver"),
    ("salt AND pepper OR vinegar", "mix salt AND pepper OR vinegar", "salt only"),
    # -- options and numbers
    ("git rebase -i autosquash", "squash my commits with git rebase -i --autosquash please", "git rebase onto main"),
    ("docker run -it ubuntu bash", "start it with docker run -it ubuntu bash", "docker run of ubuntu fails"),
    ("sed -i macos", "sed -i needs a suffix on macos", "the sed on macos is old and differs from others"),
    ("JVM -Xmx4g heap", "start the JVM -Xmx4g for more heap", "the JVM heap is small"),
    ("gcc -lpthread undefined", "gcc main.c -lpthread says undefined reference", "gcc: undefined symbol"),
    ("exit code -1073741819", "the process ended with exit code -1073741819", "the exit code was wrong"),
    ("temperature -5", "set the temperature to -5 in the test", "the temperature of the sampler"),
    (
        "curl -sSL install.example",
        "curl -sSL install.example | sh hangs",
        "curl cannot reach the host install.example over ssl today",
    ),
    ("rm -rf node_modules", "then rm -rf node_modules and install", "node_modules is too large"),
    ("tar -xzf backup", "unpack it with tar -xzf backup.tgz", "the backup tar is corrupt"),
    ("--prune branches", "git fetch --prune removes stale branches", "branches are stale"),
    ("git log --oneline -n 5", "show it with git log --oneline -n 5", "the git log in one line"),
    ("chmod +x deploy.sh", "chmod +x deploy.sh was missing", "deploy.sh fails"),
    ("LGTM +1 merge", "LGTM +1, merge it", "LGTM, please merge later"),
    ("find . -name Makefile -delete", "find . -name Makefile -delete is dangerous", "find the Makefile"),
    ("ls -lah storage", "ls -lah storage shows 4G", "the storage is full"),
    ("java -jar gateway", "java -jar gateway.jar does not start", "the java gateway"),
    ("terraform plan -out tfplan", "terraform plan -out tfplan fails", "terraform plan differs"),
    ("kubectl get pods -owide", "kubectl get pods -owide shows nodes", "kubectl get pods hangs"),
    ("mvn -DskipTests=true package", "mvn -DskipTests=true package works", "mvn package is slow"),
    ("psql -h localhost -U admin", "psql -h localhost -U admin asks twice", "psql on localhost"),
    ("offset -0.75 drift", "an offset -0.75 of drift", "the drift offset"),
    ("openssl req -newkey -nodes", "openssl req -newkey rsa:2048 -nodes -keyout k", "openssl req fails"),
    ("cargo test -- --nocapture", "cargo test -- --nocapture prints all", "cargo test is red"),
    # -- brackets and quotes
    ("parse (nested", "the parser fails at parse (nested without an end", "parse it again"),
    ('it\'s 5" wide and 3" tall', 'the panel, it\'s 5" wide and 3" tall', "a wide and tall panel"),
    ('File "widget.py, line 3) frobnicate', 'File "widget.py", line 3, in frobnicate', "the file widget"),
    ('expected "identifier before token', 'error: expected "identifier" somewhat before token', "an expected token"),
    ("lambda x: -(alpha + beta)", "use lambda x: -(alpha + beta) there", "lambda x with gamma"),
    (r"C:\Users\ann\build fails", r"in C:\Users\ann\build the link fails", "the build fails"),
    ("http://host:80/x refused", "GET http://host:80/x was refused", "the connection was refused"),
    # -- fields
    ("Error: path:/x not mounted", "Error: path:/x not mounted", "an error: it is not mounted"),
    ("TypeError: role:admin undefined", "TypeError: role:admin undefined", "a TypeError: undefined"),
    ("is:open label", "the filter is:open label shows all", "a label"),
    ("after: 5 seconds elapsed", "killed after: 5 seconds elapsed", "a few seconds elapsed"),
    ("connect host:db1 port:5432 timeout", "connect host:db1 port:5432 timeout", "connect: timeout"),
    ("file:///srv/app/index.html blocked", "file:///srv/app/index.html blocked by CORS", "index.html is blocked"),
    ("panic: agent:7 lost, branch:main stale", "panic: agent:7 lost, branch:main stale", "the agent panic, stale"),
    ("worker model:resnet diverged", "the worker model:resnet diverged", "a worker diverged"),
    # -- a stack trace
    (TRACE, TRACE, "Traceback of q.py"),
)


@pytest.fixture(scope="module", params=BACKENDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    """An index of all texts, each in a session of its own."""
    sessions = {f"filler{n}": [f"chore {n}: I tidy it in the garden and do not say null"] for n in range(20)}
    for number, (_, wanted, other) in enumerate(TABLE):
        sessions |= {f"wanted{number}": ["hello", wanted], f"other{number}": ["hello", other]}
    with indexed(request, tmp_path_factory.mktemp("pasted"), sessions) as sesame:
        yield sesame


@pytest.mark.parametrize("number", range(len(TABLE)), ids=[query[:40] for query, *_ in TABLE])
def test_a_pasted_text_finds_the_session_that_holds_it_first(number: int, library: Sesame) -> None:
    answer = library.search(TABLE[number][0])
    assert found(answer)[:1] == [f"wanted{number}"], (found(answer), str(answer.query), answer.hints)
