"""What is known of programs: which only look, which run another one, how many words name what they do."""

from __future__ import annotations


def _each(value: str, *programs: str) -> dict[str, str]:
    return dict.fromkeys(programs, value)


#: Programs that only show or pass on what others write: they end a pipe, and change nothing.
READERS = frozenset(
    "awk bat cat column cut diff du echo egrep false fgrep file find fold grep head hexdump jq less ls more nl od "
    "pbcopy printf ps pwd read rev rg sleep sort stat strings tac tail tee test tr tree true type uniq wait wc which "
    "xxd yes yq [ [[ : date whoami basename dirname realpath readlink seq env export set unset source .".split()
)
#: Subcommands that change nothing.
LOOKING = {
    "git": frozenset(
        "blame branch cat-file describe diff grep log ls-files ls-remote ls-tree reflog remote rev-list rev-parse show "
        "show-ref status".split()
    ),
    "gh": frozenset(
        "pr view,pr diff,pr list,pr checks,pr status,run list,run view,issue view,issue list,repo view,release view,"
        "release list".split(",")
    ),
}
#: Programs that take any file: their arguments do not tell what they do.
HANDLERS = frozenset(
    "git rm cp mv mkdir rmdir touch ln chmod chown open code vim nano tar zip unzip scp rsync sed".split()
)
#: Programs in front of another one, each with the options that take a value.
WRAPPERS = {
    **_each("", "time", "nohup", "command", "exec", "builtin", "bunx", "winpty", "caffeinate", "unbuffer", "setsid"),
    **_each("-s -k", "timeout", "gtimeout"),
    **_each("-n", "nice", "watch"),
    "sudo": "-u -g -h -p",
    "doas": "-u",
    "ionice": "-c -n",
    "env": "-u -C -S",
    "xargs": "-I -n -P -L -d",
    "npx": "-p --package",
    "uvx": "--from",
    "stdbuf": "-i -o -e",
}
#: Words of the shell in front of a command.
GRAMMAR = frozenset("then do else elif if while until ! ( {".split())
#: Words of the shell itself, with what follows them no command.
KEYWORDS = frozenset("for select case esac fi done function return exit break continue local declare in } )".split())
#: Words of a program that run another one, up to a `--` if there is one.
RUNNERS = frozenset(
    tuple(words.split())
    for words in (
        "uv run,poetry run,pipenv run,pdm run,hatch run,rye run,bundle exec,pnpm exec,pnpm dlx,yarn dlx,yarn exec,"
        "npm exec,mise exec,mise x,direnv exec,nix develop,asdf exec,rbenv exec,pyenv exec,conda run,bun x,dotenv run"
    ).split(",")
)
#: Their options that take a value.
RUNNER_OPTIONS = "--with --from --python -p --package --directory --project --group --extra -n --env-file".split()
#: Options that take a value and may come before a subcommand, by program.
VALUED = {
    "git": "-C -c --git-dir --work-tree",
    "pnpm": "-C -F --filter --dir",
    "npm": "--prefix -w --workspace",
    "docker": "-H --context -f --file -p --project-name --env-file",
    "docker-compose": "-f -p --env-file",
    "kubectl": "-n --namespace --context",
    "helm": "-n --namespace",
    "make": "-C -f -j",
    "mvn": "-f -pl -P",
    "gh": "-R --repo",
    "just": "-f -d",
    "mise": "-C --cd -E",
    "systemctl": "-M -H",
    "aws": "--profile --region",
    "gcloud": "--project",
    "gradle": "-p",
    "yarn": "--cwd workspace",
    "bun": "--cwd",
    **_each("-C", "go", "ninja"),
}
#: Words that belong to the name of a command, the program counted; of other programs 2, if the next is a word.
DEPTHS = {
    **dict.fromkeys(
        "tox pytest tsc eslint prettier jest mypy rm cp mv mkdir ln touch chmod chown curl wget ssh scp rsync kill "
        "pkill killall cd psql sqlite3 open code vim tar unzip zip sed perl patch gofmt".split(),
        1,
    ),
    **dict.fromkeys(
        "docker kubectl git go cargo npm pnpm yarn bun make just mise mix rake rails uv pip poetry terraform brew apt "
        "apt-get systemctl dotnet gradle gradlew mvn bundle deno swift nx turbo task ruff".split(),
        2,
    ),
    **dict.fromkeys(("gh", "aws", "az"), 3),
    "gcloud": 4,
}
#: Words after which one more belongs to the name: `npm run build`, `docker compose up`, `git stash pop`.
DEEPER = frozenset("run run-script compose stash submodule worktree exec rebase remote ecto tool flake".split())
#: Shells and the option of each with which it runs the text behind it.
SHELL_OPTIONS = {
    **_each(r"-\w*c", "bash", "sh", "zsh", "dash", "fish"),
    **_each(r"-c(?:ommand)?", "powershell", "pwsh"),
    "cmd": r"/[ck]",
}
#: Scripts whose first argument is what they do.
CONSOLES = frozenset("manage.py artisan console craft".split())
#: Programs that run the file that they are given.
INTERPRETERS = frozenset("python node ruby perl bash sh zsh php deno tsx ts-node lua pwsh osascript elixir".split())
