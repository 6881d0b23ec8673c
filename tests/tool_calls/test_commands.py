"""Commands of shells as nouns: their names, their directories, and which are the same."""

from __future__ import annotations

import pytest

from sesame_core.tool_calls.commands import commands, doing, sameness

NAMES = {
    "cd web && CI=1 npx vitest run 2>&1 | tail -5": ["vitest run", "tail"],
    "sudo docker compose -f dev.yml up -d": ["docker compose up"],
    "git add a && git commit -m \"$(cat <<'EOF'\nfix: x && y | z\nEOF\n)\" && git push": [
        "git add",
        "git commit",
        "git push",
    ],
    "git -C ../app status": ["git status"],
    "python3.11 -m pytest -q tests/": ["pytest"],
    "/usr/bin/python3 scripts/release.py --dry-run": ["python release.py"],
    "pnpm --filter web dev &>/tmp/log &": ["pnpm dev"],
    "cat > x.ts <<'EOF'\nnpm run build\nEOF\nnpm run lint": ["cat", "npm run lint"],
    "mise exec -- go test ./...": ["go test"],
    "for i in 1 2; do go test ./x; done": ["go test"],
    "if [ -f x ]; then npm ci; fi": ["[", "npm ci"],
    "bash -lc 'cargo test --workspace'": ["cargo test"],
    "bash -lc cargo test": ["cargo test"],
    "timeout 60 make -C docs html": ["make html"],
    "kubectl -n prod rollout restart deploy/x": ["kubectl rollout"],
    "ssh -i key box 'cd /srv && docker compose restart'": ["ssh", "docker compose restart"],
    "uv run --with x pytest": ["pytest"],
    "echo 'npm test; rm -rf /' # cargo build": ["echo"],
    "X=1": [],
    "cmd /c npm test": ["npm test"],
    'powershell -Command "cd web; npm test"': ["npm test"],
    "python manage.py migrate --noinput": ["python manage.py migrate"],
    "php artisan test --filter x": ["php artisan test"],
    "yarn workspace web build": ["yarn build"],
    "cargo +nightly fmt": ["cargo fmt"],
    "command -v node || nvm install": ["which", "nvm install"],
    "env CI=1 mvn -pl core test": ["mvn test"],
    "cat <<EOF | kubectl apply -f -\nkind: Pod\nEOF": ["cat", "kubectl apply"],
    "$(npm bin)/eslint .": ["eslint"],
    "echo 'unclosed": ["echo"],
    "a=$(ls": [],
    "": [],
    "D:\\tools\\gradlew.exe build": ["gradlew build"],
    "git commit -m \"$(cat <<'EOF'\nfix: don't (\nEOF\n)\" && git push": ["git commit", "git push"],
    "case $1 in start) npm start;; esac": ["npm start"],
    "bash <<'EOF'\ncd web\nnpm test\nEOF": ["npm test"],
    "echo $'don\\'t' && make": ["echo", "make"],
    "foo () { rm a.py; }": ["foo", "rm"],
    "Set-Content (Join-Path $x 'a.txt') 'y'; npm test": ["Set-Content", "npm test"],
    "python3 <<< 'print(1)' | tee out": ["python", "tee"],
    "diff <(sort a) <(sort b)": ["diff"],
    "sudo bash -c \"ssh box 'systemctl restart x'\"": ["ssh", "systemctl restart"],
}


@pytest.mark.parametrize("text", NAMES)
def test_a_command_is_named_by_its_program_and_subcommand(text: str) -> None:
    assert [" ".join(one.name) for one in commands(text)] == NAMES[text]


def test_a_command_knows_the_directory_that_cd_went_to_before_it() -> None:
    (build,) = [one for one in commands("cd apps && cd ./web && npm run build") if one.name[0] == "npm"]
    assert build.directory == "apps/web"


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        ("cd web && bash -lc 'cd app && npm test'", "web/app"),
        ("cd web && cd ~/other && npm test", "~/other"),
        ("cd web && cd - && npm test", ""),
        ("cd C:\\work; npm test", "C:\\work"),
    ],
)
def test_a_directory_is_where_the_command_ran(text: str, directory: str) -> None:
    (one,) = commands(text)
    assert one.directory == directory


def test_a_command_is_shown_with_its_wrapper_and_without_variables_and_redirections() -> None:
    (one,) = commands("TOKEN=abc npx jest --ci 'a b' > out.txt 2>&1")
    assert one.text == 'npx jest --ci "a b"'


def test_what_only_looks_is_left_out_unless_there_is_nothing_else() -> None:
    assert [one.name for one in doing("cd x && git status && make | tail -3")] == [("make",)]
    assert [one.name for one in doing("cat x | grep y")] == [("cat",), ("grep",)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("go test ./a", "cd /x && go test ./a -v 2>&1 | tail", 3),
        ("go test ./a", "go test ./...", 3),
        ("go test ./a", "go test ./b", 2),
        ("rtk bun run test", "bun run test", 3),
        ("go build ./cmd/app", "go vet ./cmd/app", 1),
        ("npm test", "git push", 0),
    ],
)
def test_two_calls_are_the_same_as_far_as_program_and_arguments_are(one: str, other: str, expected: int) -> None:
    assert sameness(doing(one), doing(other)) == expected


@pytest.mark.once
def test_a_hostile_command_is_split_in_linear_time() -> None:
    nested = ("(", "$(", '"$(', "`", "'")
    for text in (*(one * 50_001 for one in nested), "<<A\n" * 20_000, "a&&" * 50_000, "# x\n" * 20_000, "\\a" * 50_000):
        assert isinstance(commands(text), tuple)
