"""What a run did, what the index holds, what is installed and configured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .text import SCHEMA_VERSION, iso, minute, printable, size

if TYPE_CHECKING:
    from ..plugin.manager import PluginInfo
    from ..types.index import Statistics, WorkstationStatistics
    from ..types.report import FileProblem, IndexReport


def report_json(report: IndexReport) -> dict[str, Any]:
    """Return an index report's JSON value."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "added": report.added,
        "updated": report.updated,
        "appended": report.appended,
        "unchanged": report.unchanged,
        "missing": report.missing,
        "pending": report.pending,
        "described": report.described,
        "withheld": report.withheld,
        "absentRoots": report.absent_roots,
        "skipped": report.skipped,
        "losses": [_problem_json(problem) for problem in report.losses],
        "errors": [_problem_json(problem) for problem in report.errors],
        "chunks": report.chunks,
        "bytes": report.bytes,
        "seconds": round(report.seconds, 3),
    }


def _problem_json(problem: FileProblem) -> dict[str, Any]:
    return {"path": problem.path, "line": problem.line, "message": problem.message}


def report_text(report: IndexReport) -> str:
    """Return an index report for people."""
    counts = [
        (report.added, "added"),
        (report.updated, "updated"),
        (report.appended, "appended"),
        (report.unchanged, "unchanged"),
        (report.missing, "missing (kept)"),
        (report.pending, "pending"),
        (report.described, "described"),
        (report.withheld, "withheld (private)"),
    ]
    told = ", ".join(f"{count} {what}" for count, what in counts if count) or "no session files found"
    lines = [f"{told}; {report.chunks} chunks from {size(report.bytes)} in {report.seconds:.1f} s"]
    lines += [f"no such directory: {printable(root)}" for root in report.absent_roots]
    if report.skipped:
        skipped = ", ".join(f"{count} {reason}" for reason, count in sorted(report.skipped.items()))
        lines.append(f"skipped records: {skipped}")
    lines += [f"  {_place(problem)}: {printable(problem.message)}" for problem in report.losses[:10]]
    if len(report.losses) > 10:
        lines.append("  … (all with --json)")
    lines += [f"error: {_place(problem)}: {printable(problem.message)}" for problem in report.errors]
    return "\n".join(lines)


def _place(problem: FileProblem) -> str:
    return printable(problem.path) + (f":{problem.line}" if problem.line else "")


def status_json(statistics: Statistics, expiring: dict[str, int], plugins: list[PluginInfo]) -> dict[str, Any]:
    """Return the index's JSON value.

    :param expiring: sessions whose agent deletes them within a week, by agent.
    """
    return {
        "schemaVersion": SCHEMA_VERSION,
        "location": statistics.location,
        "indexSchema": statistics.schema_version,
        "sessions": statistics.sessions,
        "messages": statistics.messages,
        "chunks": statistics.chunks,
        "files": statistics.files,
        "bytes": statistics.size,
        "lastSync": iso(statistics.last_sync),
        "newestMessage": iso(statistics.newest_message),
        "missingFiles": statistics.missing,
        "forgottenSessions": statistics.forgotten,
        "skipped": dict(statistics.skipped or {}),
        "failedFiles": [{"path": path, "message": message} for path, message in statistics.failed],
        "expiringSessions": expiring,
        "agents": [
            {
                "agent": agent.agent,
                "kind": agent.kind,
                "sessions": agent.sessions,
                "messages": agent.messages,
                "newestMessage": iso(agent.newest_message),
            }
            for agent in statistics.agents
        ],
        "workstations": [workstation_json(workstation) for workstation in statistics.workstations],
        "plugins": [plugin_json(plugin) for plugin in plugins],
    }


def status_text(statistics: Statistics, expiring: dict[str, int], plugins: list[PluginInfo]) -> str:
    """Return the index's state for people."""
    rows = [
        ("Sessions", f"{statistics.sessions}"),
        ("Messages", f"{statistics.messages}"),
        ("Chunks", f"{statistics.chunks}"),
        ("Files", f"{statistics.files}" + (f" ({statistics.missing} gone, kept)" if statistics.missing else "")),
        ("Index size", size(statistics.size)),
        ("Last sync", minute(statistics.last_sync) or "never"),
        ("Newest message", minute(statistics.newest_message) or "none"),
        ("Location", f"{statistics.location} (schema {statistics.schema_version})"),
    ]
    if statistics.forgotten:
        rows.append(("Forgotten", f"{statistics.forgotten}"))
    lines = ["Sesame index", "", *(f"  {name + ':':<16}{value}" for name, value in rows)]
    if statistics.agents:
        lines += ["", "  Agents:"]
        for agent in statistics.agents:
            kind = "" if agent.kind == "interactive" else f" ({agent.kind})"
            newest = minute(agent.newest_message) or "no dated message"
            held = f"{agent.sessions:>7} sessions {agent.messages:>9} messages"
            lines.append(f"    {agent.agent + kind:<26}{held}, newest {newest}")
    if statistics.workstations:
        lines += ["", "  Workstations:", *(f"    {line}" for line in _workstation_lines(statistics.workstations))]
    for agent_name, count in expiring.items():
        lines.append(
            f"  {count} session files of {agent_name} will be deleted by it within 7 days; the index keeps them"
        )
    if statistics.skipped:
        lines.append(
            "  Skipped records: " + ", ".join(f"{n} {reason}" for reason, n in sorted(statistics.skipped.items()))
        )
    lines += [f"  Unreadable: {printable(path)}: {printable(message)}" for path, message in statistics.failed]
    lines += ["", "  Plugins:", *(f"    {line}" for line in _plugin_lines(plugins))]
    return "\n".join(lines)


def workstation_json(workstation: WorkstationStatistics) -> dict[str, Any]:
    """Return a workstation's JSON value."""
    return {
        "workstation": workstation.id,
        "host": workstation.host or None,
        "owner": workstation.owner or None,
        "sessions": workstation.sessions,
        "newestMessage": iso(workstation.newest_message),
        "lastSync": iso(workstation.last_sync),
    }


def workstations_json(workstations: Sequence[WorkstationStatistics]) -> dict[str, Any]:
    """Return the JSON value of all workstations."""
    return {"schemaVersion": SCHEMA_VERSION, "workstations": [workstation_json(w) for w in workstations]}


def workstations_text(workstations: Sequence[WorkstationStatistics]) -> str:
    """Return the workstations for people, one a line."""
    return "\n".join(_workstation_lines(workstations)) or "no workstation has indexed anything yet"


def _workstation_lines(workstations: Sequence[WorkstationStatistics]) -> list[str]:
    return [
        f"{printable(w.id):<18}{printable(w.host):<22}{printable(w.owner):<14}{w.sessions:>7} sessions, "
        f"newest {minute(w.newest_message) or 'none'}, last sync {minute(w.last_sync) or 'never'}"
        for w in workstations
    ]


def plugin_json(plugin: PluginInfo) -> dict[str, Any]:
    """Return a plugin's JSON value."""
    return {
        "name": plugin.name,
        "kind": plugin.kind,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "summary": plugin.summary,
        "error": plugin.error,
    }


def plugins_text(plugins: list[PluginInfo]) -> str:
    """Return the installed plugins for people, one a line."""
    return "\n".join(_plugin_lines(plugins))


def _plugin_lines(plugins: list[PluginInfo]) -> list[str]:
    return [
        f"{plugin.kind:<9} {plugin.name:<13} {plugin.distribution + ' ' + plugin.version:<25} "
        + (f"FAILED: {printable(plugin.error)}" if plugin.error else plugin.summary)
        for plugin in plugins
    ]


def config_text(described: dict[str, Any]) -> str:
    """Return the effective configuration (`config_report.describe`) for people."""
    file, refresh, models = described["configFile"], described["refreshSeconds"], described["models"]
    share = described["share"]
    describe = described["describe"]
    how = f"after {describe['minNewUserMessages']} new prompts" if describe["automatic"] else "only when asked"
    lines = [
        f"config file   {file['value']}" + ("" if file["exists"] else " (not there: nothing is configured)"),
        f"data          {described['dataDir']['value']} ({described['dataDir']['origin']})",
        f"workstation   {described['workstation']['value']} ({described['workstation']['origin']})",
        f"backend       {_selection_text(described['backend'])} ({described['backend']['origin']})",
        f"redact        {_redaction_text(described['redact'])} ({described['redact']['origin']})",
        f"share         {share['value']} unless `sesame share` says otherwise ({share['origin']})",
        f"refresh       {refresh['value']} s before a search ({refresh['origin']})",
        f"models        {', '.join(models['value']) or 'none: no model is asked'} ({models['origin']})",
        f"describe      {how}, to {describe['directory']} ({describe['origin']})",
        "sources" + ("" if described["sources"] else "       none: no session directory of any agent was found"),
    ]
    for source in described["sources"]:
        lines.append(f"  {_selection_text(source['parser']):<12} {source['path']} ({source['origin']})")
        if source["exclude"]:
            lines.append(f"{'':15}without {', '.join(source['exclude'])}")
    return "\n".join(map(printable, [*lines, *(f"problem: {problem}" for problem in described["problems"])]))


def _redaction_text(redaction: dict[str, Any]) -> str:
    told = {True: "secrets are masked in the index", False: "nothing is masked", None: "not known"}[redaction["value"]]
    counts = [(len(redaction["patterns"]), "patterns of your own"), (len(redaction["keep"]), "exceptions")]
    return told + "".join(f", {count} {what}" for count, what in counts if count)


def _selection_text(selection: dict[str, Any]) -> str:
    name, options = str(selection["name"]), selection.get("options")
    return name + (f" {json.dumps(options, ensure_ascii=False)}" if options else "")
