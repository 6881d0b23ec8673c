"""State of the index, its workstations, and the installed plugins, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..types.index import SILENT
from .reports import root_json, unread_json
from .text import SCHEMA_VERSION, count, home, iso, minute, one_line, size, skipped_lines

if TYPE_CHECKING:
    from ..plugin.manager import PluginInfo
    from ..types.index import AgentStatistics, Statistics, WorkstationStatistics
    from ..types.report import IndexReport
    from ..types.server import ServerState
    from .schemas.status import PluginJson, ServerJson, StatusJson, WorkstationJson, WorkstationsJson

#: Most files that are listed.
LISTED = 10


def status_json(
    statistics: Statistics,
    expiring: dict[str, int],
    plugins: list[PluginInfo],
    unread: IndexReport | None = None,
    server: ServerState | None = None,
) -> StatusJson:
    """Return the JSON value of the index's state.

    :param expiring: sessions whose agent deletes them within a week, by agent.
    :param unread: what a run would find.
    :param server: the state of the index's server, if it has one.
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
        "silentSessions": statistics.silent,
        "skipped": _skipped(statistics),
        "failedFiles": [{"path": path, "message": message} for path, message in _failed(statistics, unread).items()],
        "absentRoots": unread.absent_roots if unread else [],
        "unrecognised": [
            {"path": problem.path, "message": problem.message} for problem in (unread.unrecognised if unread else [])
        ],
        "lookedIn": [root_json(root) for root in (unread.looked_in or () if unread else ())],
        "unreadAgents": [unread_json(root) for root in (unread.unread_roots or () if unread else ())],
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
        "server": server_json(server) if server else None,
        "plugins": [plugin_json(plugin) for plugin in plugins],
    }


def status_text(
    statistics: Statistics,
    expiring: dict[str, int],
    plugins: list[PluginInfo],
    unread: IndexReport | None = None,
    server: ServerState | None = None,
) -> str:
    """Return the index's state as text."""
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
    if server:
        rows.append(("Server", _server_line(server)))
    if statistics.silent:
        rows.append(("Left out", f"{count(statistics.silent, 'session')} in which nobody has said anything yet"))
    if statistics.forgotten:
        rows.append(("Forgotten", f"{statistics.forgotten}"))
    lines = ["Sesame index", "", *(f"  {name + ':':<16}{value}" for name, value in rows)]
    if statistics.agents:
        lines += ["", *(f"  {line}" for line in _agent_lines(statistics.agents))]
    if unread:
        lines += _root_lines(unread)
    if statistics.workstations:
        lines += ["", "  Workstations:", *(f"    {line}" for line in _workstation_lines(statistics.workstations))]
    notes = _notes(statistics, expiring, unread, server)
    lines += ["", *(f"  {note}" for note in notes)] if notes else []
    lines += ["", "  Plugins:", *(f"    {line}" for line in _plugin_lines(plugins))]
    return "\n".join(lines)


def _agent_lines(agents: Sequence[AgentStatistics]) -> list[str]:
    """Return a table of the agents, no wider than what it says."""
    rows = [("Agents:", "sessions", "messages", "newest message")]
    for agent in agents:
        kind = "" if agent.kind == "interactive" else f" ({one_line(agent.kind)})"
        newest = minute(agent.newest_message) or "no dated message"
        rows.append((f"  {one_line(agent.agent)}{kind}", f"{agent.sessions}", f"{agent.messages}", newest))
    name, sessions, messages, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    return [f"{row[0]:<{name}}  {row[1]:>{sessions}}  {row[2]:>{messages}}  {row[3]}" for row in rows]


def _notes(
    statistics: Statistics, expiring: dict[str, int], unread: IndexReport | None, server: ServerState | None
) -> list[str]:
    """Return what a person has to know or to do, a line each."""
    notes = [
        f"{agent} will delete {count(number, 'session file')} within 7 days; the index keeps the sessions"
        for agent, number in expiring.items()
    ]
    notes += [f"Problem: {one_line(problem)}" for problem in (server.problems if server else ())]
    notes += skipped_lines(_skipped(statistics))
    failed = _failed(statistics, unread)
    notes += [f"Unreadable: {one_line(path)}: {one_line(message)}" for path, message in failed.items()]
    if unread:
        notes += [f"Unreadable: {one_line(root)}: no such directory" for root in unread.absent_roots]
        strange = unread.unrecognised
        notes += [f"Not recognised: {one_line(file.path)}: {one_line(file.message)}" for file in strange[:LISTED]]
        notes += [f"Not recognised: {count(len(strange) - LISTED, 'more file')}"] if len(strange) > LISTED else []
    return notes


def _root_lines(report: IndexReport) -> list[str]:
    """Return where session files are looked for, and whose sessions nothing reads."""
    looked, lines = report.looked_in or (), []
    there = [(root.parser, home(root.path)) for root in looked if root.exists]
    missing = ", ".join(dict.fromkeys(home(root.path) for root in looked if not root.exists))
    if looked:
        lines += ["", "  Looked in:", *(f"    {_pair(*row)}" for row in there)]
        lines += [f"    {_pair('not there', missing)}"] if missing else []
    if unread := report.unread_roots:
        from ..plugin.agents import TUTORIAL

        lines += ["", "  Sessions that no installed plugin reads:"]
        lines += [f"    {_pair(root.agent, home(root.path))}" for root in unread]
        lines.append(f"    To read them, write a plugin: {TUTORIAL}")
    return lines


def _pair(name: str, value: str) -> str:
    return f"{one_line(name):<15} {one_line(value)}"


def _skipped(statistics: Statistics) -> dict[str, int]:
    """Return the numbers of skipped records by reason."""
    return {reason: number for reason, number in (statistics.skipped or {}).items() if reason != SILENT}


def _failed(statistics: Statistics, unread: IndexReport | None) -> dict[str, str]:
    """Return what could not be read, with the reasons: at its last read, or now."""
    return {**dict(statistics.failed), **{error.path: error.message for error in (unread.errors if unread else ())}}


def workstation_json(workstation: WorkstationStatistics) -> WorkstationJson:
    """Return a workstation's JSON value."""
    return {
        "workstation": workstation.id,
        "host": workstation.host or None,
        "owner": workstation.owner or None,
        "sessions": workstation.sessions,
        "newestMessage": iso(workstation.newest_message),
        "lastSync": iso(workstation.last_sync),
    }


def server_json(server: ServerState) -> ServerJson:
    """Return the JSON value of a server's state."""
    return {
        "version": server.version,
        "role": server.role,
        "schema": server.schema,
        "bytes": server.size,
        "replica": server.is_replica,
        "replayedAt": iso(server.replayed_at),
        "connections": server.connections,
        "maxConnections": server.max_connections,
        "transactions": [
            {"role": one.role, "process": one.process, "since": iso(one.since), "tables": [*one.tables]}
            for one in server.transactions
        ],
        "allVisible": server.sees_all,
        "unvalidated": [*server.unvalidated],
        "orphans": dict(server.orphans),
        "problems": [*server.problems],
    }


def _server_line(server: ServerState) -> str:
    kind = f"replica, as of {minute(server.replayed_at) or 'its start'}, " if server.is_replica else ""
    return (
        f"version {server.version}, {kind}database {size(server.size)}, "
        f"{server.connections} of {server.max_connections} connections"
    )


def workstations_json(workstations: Sequence[WorkstationStatistics]) -> WorkstationsJson:
    """Return the JSON value of all workstations."""
    return {"schemaVersion": SCHEMA_VERSION, "workstations": [workstation_json(w) for w in workstations]}


def workstations_text(workstations: Sequence[WorkstationStatistics]) -> str:
    """Return the workstations as text, one per line."""
    return "\n".join(_workstation_lines(workstations)) or "no workstation has indexed anything yet"


def _workstation_lines(workstations: Sequence[WorkstationStatistics]) -> list[str]:
    return [
        f"{one_line(w.id):<18}{one_line(w.host):<22}{one_line(w.owner):<14}"
        f"{count(w.sessions, 'session'):>16}, "
        f"newest {minute(w.newest_message) or 'none'}, last sync {minute(w.last_sync) or 'never'}"
        for w in workstations
    ]


def plugin_json(plugin: PluginInfo) -> PluginJson:
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
    """Return the installed plugins as text, one per line."""
    return "\n".join(_plugin_lines(plugins))


def _plugin_lines(plugins: list[PluginInfo]) -> list[str]:
    return [
        f"{plugin.kind:<9} {plugin.name:<13} {plugin.distribution + ' ' + plugin.version:<25} "
        + (f"FAILED: {one_line(plugin.error)}" if plugin.error else plugin.summary)
        for plugin in plugins
    ]
