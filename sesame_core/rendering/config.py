"""The effective configuration as text; its JSON value is made by `config.report`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .text import count, printable

if TYPE_CHECKING:
    from ..config.report import ConfigJson, RedactJson, SelectionJson


def config_text(described: ConfigJson) -> str:
    """Return the effective configuration (`config.report.describe`) as text."""
    file, refresh, models = described["configFile"], described["refreshSeconds"], described["models"]
    share, lock, workers = described["share"], described["lockSeconds"], described["indexWorkers"]
    describe = described["describe"]
    how = f"after {describe['minNewUserMessages']} new prompts" if describe["automatic"] else "only when asked"
    lines = [
        f"config file   {file['value']}" + ("" if file["exists"] else " (does not exist: nothing is configured)"),
        f"data          {described['dataDir']['value']} ({described['dataDir']['origin']})",
        f"workstation   {described['workstation']['value']} ({described['workstation']['origin']})",
        f"backend       {_selection_text(described['backend'])} ({described['backend']['origin']})",
        f"redact        {_redaction_text(described['redact'])} ({described['redact']['origin']})",
        f"share         {share['value']} unless `sesame share` says otherwise ({share['origin']})",
        f"refresh       {refresh['value']} s before a search ({refresh['origin']})",
        f"lock          {lock['value']:g} s for another process that writes ({lock['origin']})",
        f"workers       {_workers_text(workers['value'])} ({workers['origin']})",
        f"models        {', '.join(models['value']) or 'none: no model is asked'} ({models['origin']})",
        f"describe      {how}, to {describe['directory']} ({describe['origin']})",
        "sources" + ("" if described["sources"] else "       none is configured, or found"),
    ]
    for source in described["sources"]:
        lines.append(f"  {_selection_text(source['parser']):<12} {source['path']} ({source['origin']})")
        if source["exclude"]:
            lines.append(f"{'':15}excluding {', '.join(source['exclude'])}")
    return "\n".join(map(printable, [*lines, *(f"problem: {problem}" for problem in described["problems"])]))


def _workers_text(most: int | None) -> str:
    if most is None:
        return "as many as pay read files for `sesame index`"
    return f"at most {most} read files for `sesame index`" if most else "none: `sesame index` reads files itself"


def _redaction_text(redaction: RedactJson) -> str:
    what = {True: "secrets are masked in the index", False: "nothing is masked", None: "not known"}[redaction["value"]]
    patterns, kept = len(redaction["patterns"]), len(redaction["keep"])
    what += f", {count(patterns, 'pattern')} of your own" if patterns else ""
    return what + (f", {count(kept, 'exception')}" if kept else "")


def _selection_text(selection: SelectionJson) -> str:
    name, options = str(selection["name"]), selection.get("options")
    return name + (f" {json.dumps(options, ensure_ascii=False)}" if options else "")
