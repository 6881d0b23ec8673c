"""How this Sesame was installed, and the command lines that add an extra to it or upgrade it.

One advice does not fit all: pipx and uv forget what pip puts into their environments, some environments have no pip,
and those of `uvx` and `pipx run` are caches.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import DISTRIBUTION

#: `mcp<3,>=2.3; extra == 'mcp'` in the metadata: a requirement, the rest of its marker, and the extra that asks for it.
_OF_EXTRA = re.compile(r"""^([^;]+);(.*?)\s*(?:and\s+)?\(?extra == ["']([\w.-]+)["']\)?\s*$""")
#: `sesame-search[redact]`: an extra that consists of others.
_OWN_EXTRAS = re.compile(rf"^{DISTRIBUTION}\[([^\]]+)\]")


class Kind(Enum):
    """What made the environment that Sesame runs in."""

    #: `uv tool install`: the environment is described by a receipt, and made anew from it.
    UV_TOOL = "uv tool"
    #: `uvx`: an environment in uv's cache.
    UVX = "uvx"
    #: `pipx install`.
    PIPX = "pipx"
    #: `pipx run`: an environment in the cache of pipx.
    PIPX_RUN = "pipx run"
    #: Any other environment, or none: pip, or `uv pip` where there is no pip.
    PIP = "pip"

    @property
    def is_temporary(self) -> bool:
        """Whether the environment is deleted by itself some day."""
        return self in (Kind.UVX, Kind.PIPX_RUN)


def kind(prefix: Path | None = None) -> Kind:
    """Return what made an environment.

    :param prefix: its directory; the one of this process when None.
    """
    prefix = prefix or Path(sys.prefix)
    if (prefix / "uv-receipt.toml").is_file():
        return Kind.UV_TOOL
    # Of both programs the directory above, their cache, has the mark: https://bford.info/cachedir/
    is_cached = any((above / "CACHEDIR.TAG").is_file() for above in prefix.parents)
    if (prefix / "pipx_metadata.json").is_file():
        return Kind.PIPX_RUN if is_cached else Kind.PIPX
    try:
        made_by = (prefix / "pyvenv.cfg").read_text(encoding="utf-8")
    except (OSError, ValueError):  # no environment
        return Kind.PIP
    return Kind.UVX if is_cached and re.search(r"^uv\s*=", made_by, re.MULTILINE) else Kind.PIP


def adding(extra: str) -> str:
    """Return the command line that adds an extra of Sesame to this installation, or runs Sesame with it."""
    found = kind()
    needed = list(_requirements(extra)) or [f"{DISTRIBUTION}[{extra}]"]
    if found is Kind.UV_TOOL:
        return shlex.join(["uv", "tool", "install", *_uv_tool(extra, needed)])
    if found is Kind.PIPX:
        return shlex.join(["pipx", "inject", Path(sys.prefix).name, *needed])
    if found is Kind.UVX:
        return shlex.join(["uvx", "--from", _named(extra), *_this_command()])
    if found is Kind.PIPX_RUN:
        return shlex.join(["pipx", "run", "--spec", _named(extra), *_this_command()])
    return _by_pip(needed)


def upgrading() -> str:
    """Return the command line that upgrades this installation."""
    found = kind()
    if found is Kind.UV_TOOL:
        return shlex.join(["uv", "tool", "upgrade", Path(sys.prefix).name])
    if found is Kind.PIPX:
        return shlex.join(["pipx", "upgrade", Path(sys.prefix).name])
    if found is Kind.UVX:
        return shlex.join(["uvx", "--refresh", "--from", _named(), *_this_command()])
    if found is Kind.PIPX_RUN:
        return shlex.join(["pipx", "run", "--no-cache", "--spec", _named(), *_this_command()])
    return _by_pip(["--upgrade", _named()])


def lasting(*extras: str) -> str:
    """Return the command line that installs for good what runs from a cache, with extras."""
    tool = ["pipx", "install"] if kind() is Kind.PIPX_RUN else ["uv", "tool", "install"]
    return shlex.join([*tool, _named(*extras)])


def _requirements(extra: str) -> Iterator[str]:
    """Yield what an extra of this installation requires, without Sesame itself."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return
    for line in lines:
        found = _OF_EXTRA.match(line)
        if found is None or found[3] != extra:
            continue
        needed, marker = found[1].strip(), found[2].strip()
        if own := _OWN_EXTRAS.match(needed):
            for other in own[1].split(","):
                yield from _requirements(other.strip())
        else:
            yield f"{needed}; {marker}" if marker else needed


def _named(*extras: str) -> str:
    """Return Sesame as a requirement, from where this one was installed."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    name = f"{DISTRIBUTION}[{','.join(extras)}]" if extras else DISTRIBUTION
    try:
        origin: dict[str, Any] = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return name
    url = origin.get("url")
    if not isinstance(url, str):
        return name
    if vcs := origin.get("vcs_info"):
        revision = vcs.get("requested_revision")
        url = f"{vcs['vcs']}+{url}" + (f"@{revision}" if revision else "")
    return f"{name} @ {url}"


def _this_command() -> list[str]:
    """Return what was run, as words after the program that makes the environment."""
    return ["sesame", *sys.argv[1:]] if Path(sys.argv[0]).stem == "sesame" else ["sesame"]


def _by_pip(arguments: list[str]) -> str:
    """Return the command line that installs into the environment of this process."""
    command = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        if shutil.which("uv"):
            return shlex.join(["uv", "pip", "install", "--python", sys.executable, *arguments])
        return f"{shlex.join([sys.executable, '-m', 'ensurepip'])} && {shlex.join([*command, *arguments])}"
    if sys.prefix == sys.base_prefix:
        import site
        import sysconfig

        user_site = site.getusersitepackages() if site.ENABLE_USER_SITE else None
        if user_site and Path(__file__).is_relative_to(user_site):
            command.append("--user")
        # Where a distribution owns the packages, Sesame is there because somebody overrode that.
        if os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")):
            command.append("--break-system-packages")
    return shlex.join([*command, *arguments])


def _uv_tool(extra: str, needed: list[str]) -> list[str]:
    """Return the arguments that install a tool again as its receipt says, and the extra in addition."""
    import tomllib

    try:
        tool = tomllib.loads((Path(sys.prefix) / "uv-receipt.toml").read_text(encoding="utf-8"))["tool"]
        receipts = [one if isinstance(one, dict) else {"name": one} for one in tool["requirements"]]
        main, *others = sorted(receipts, key=lambda one: one["name"] != Path(sys.prefix).name)
    except (OSError, ValueError, KeyError, TypeError):
        return [f"{DISTRIBUTION}[{extra}]"]
    python = ["--python", tool["python"]] if isinstance(tool.get("python"), str) else []
    if main["name"] == DISTRIBUTION:
        main, needed = {**main, "extras": sorted({*main.get("extras", ()), extra})}, []
    withs = [word for one in [*map(_of_receipt, others), *([each] for each in needed)] for word in _with(one)]
    return [*python, *withs, *_of_receipt(main)]


def _with(requirement: list[str]) -> list[str]:
    """Return the option of `uv tool install` for a further requirement."""
    option, *rest = requirement
    return ["--with-editable", *rest] if option == "--editable" else ["--with", option]


def _of_receipt(requirement: dict[str, Any]) -> list[str]:
    """Return a requirement of uv's receipt as words of a command line."""
    extras = f"[{','.join(requirement['extras'])}]" if requirement.get("extras") else ""
    name = f"{requirement['name']}{extras}"
    if place := requirement.get("editable"):
        return ["--editable", f"{place}{extras}"]
    if place := requirement.get("directory") or requirement.get("path"):
        return [f"{name} @ {Path(place).as_uri()}" if Path(place).is_absolute() else f"{place}{extras}"]
    if place := requirement.get("url"):
        return [f"{name} @ {place}"]
    if place := requirement.get("git"):
        url, _, query = place.partition("?")
        revision = re.search(r"(?:rev|tag|branch)=([^&#]+)", query)
        return [f"{name} @ git+{url}" + (f"@{revision[1]}" if revision else "")]
    return [f"{name}{requirement.get('specifier', '')}"]


def started_by(program: str, interpreter: Sequence[str]) -> list[str]:
    """Return the command that starts this Sesame from anywhere.

    :param program: the program of this process (`sys.argv[0]`).
    :param interpreter: the command that starts Sesame as a module, if it has no program of its own.
    """
    path = shutil.which(program)
    named = path is not None and Path(path).stem == "sesame"
    return [os.path.abspath(path)] if named and path else list(interpreter)
