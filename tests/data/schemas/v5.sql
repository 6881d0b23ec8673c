PRAGMA page_size = 8192;
PRAGMA application_id = 1397052237;
PRAGMA user_version = 5;
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('chunks', 6);
INSERT INTO meta VALUES ('last_sync_at', 1795952217084);
CREATE TABLE schema_migrations (id INTEGER PRIMARY KEY, description TEXT NOT NULL, applied_at TEXT NOT NULL);
INSERT INTO schema_migrations VALUES (1, 'first schema', '2026-11-29T11:36:57Z');
INSERT INTO schema_migrations VALUES (2, 'who indexed a session, and where', '2026-11-29T11:36:57Z');
INSERT INTO schema_migrations VALUES (3, 'what was written about a session', '2026-11-29T11:36:57Z');
INSERT INTO schema_migrations VALUES (4, 'roles and tools of chunks beside their texts', '2026-11-29T11:36:57Z');
INSERT INTO schema_migrations VALUES (5, 'all directories of a session', '2026-11-29T11:36:57Z');
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  parser TEXT NOT NULL,
  parser_version INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  size INTEGER NOT NULL,
  missing_since INTEGER,            -- all times: milliseconds since 1970, UTC
  error TEXT,
  skipped TEXT NOT NULL,            -- JSON: reason -> count
  head_hash BLOB NOT NULL,
  tail_hash BLOB NOT NULL,
  recent_origins BLOB NOT NULL,     -- 64-bit integers, little-endian
  checkpoint TEXT                   -- JSON: [offset, line, parser state]
);
INSERT INTO files VALUES (1, '/sesame-schema-fixture/pi/0199cccc-0000-7000-8000-000000000001.jsonl', 'pi', 30002, 1780000000000000000, 571, NULL, NULL, '{}', X'1D659E0F4779EAF92116617100997E81', X'1D659E0F4779EAF92116617100997E81', X'04EA9AF52EC0C2383447D358027D1B2A', '[571,3,{"session":{"id":"0199cccc-0000-7000-8000-000000000001","kind":"interactive","parent_id":null,"cwd":"/home/ann/lighthouse","title":null,"model":null,"created":"2026-03-04T05:06:00+00:00"},"is_compacted":false,"title":"","labels":[],"calls":[],"tree":{"segments":{"current":2,"parents":[],"recent":[["a0000000",1],["a0000001",2]]},"previous":"a0000001"}}]');
INSERT INTO files VALUES (2, '/sesame-schema-fixture/pi/0199cccc-0000-7000-8000-000000000002.jsonl', 'pi', 30002, 1780000000000000000, 352, NULL, NULL, '{}', X'4BFF179EEC7C6259D8C3B7D66D1080DC', X'4BFF179EEC7C6259D8C3B7D66D1080DC', X'04EA9AF52EC0C238', '[352,2,{"session":{"id":"0199cccc-0000-7000-8000-000000000002","kind":"interactive","parent_id":null,"cwd":"/home/ann/lighthouse","title":null,"model":null,"created":"2026-03-04T05:06:00+00:00"},"is_compacted":false,"title":"","labels":[],"calls":[],"tree":{"segments":{"current":1,"parents":[],"recent":[["a0000000",1]]},"previous":"a0000000"}}]');
INSERT INTO files VALUES (3, '/sesame-schema-fixture/claude/-home-bo-kelp/1b1b1b1b-1111-4222-8333-444444444444.jsonl', 'claude-code', 30004, 1780000000000000000, 1319, NULL, NULL, '{}', X'07440923F1626AD8C16835D18BF0B176', X'07440923F1626AD8C16835D18BF0B176', X'64C541488050C124F6B7525BAB93AE20D2C6F4BC189B7A79', '[1319,3,{"is_known":true,"is_warming":false,"facts":{"id":"1b1b1b1b-1111-4222-8333-444444444444","session_id":"1b1b1b1b-1111-4222-8333-444444444444","agent_id":"","is_subagent":false,"forked_from":"","cwd":"/home/bo/kelp","present":"/home/bo/kelp","directories":[],"branch":"main","repository":"","model":"","entrypoint":"","title":"","title_rank":0},"segments":{"current":1,"parents":[],"recent":[["00000000-0000-4000-8000-000000000000",1],["00000000-0000-4000-8000-000000000001",1],["00000000-0000-4000-8000-000000000002",1]]},"leaf":null,"calls":[],"replies":[["msg_1 ",["9e1325768c628aaa","5c01dcc61c308d8d"]]],"queued":{"attached":[],"reported":[]},"notes":{"told":[],"waiting":[]}}]');
CREATE INDEX files_known ON files (path, mtime_ns, parser, parser_version, missing_since, error);
CREATE INDEX files_failed ON files (path) WHERE error IS NOT NULL;
CREATE INDEX files_skipping ON files (id) WHERE skipped <> '{}';
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,                -- workstation:project:session
  session_id TEXT NOT NULL,
  file INTEGER NOT NULL REFERENCES files (id),
  agent TEXT NOT NULL,
  kind TEXT NOT NULL,
  parent_id TEXT,
  cwd TEXT,
  repository TEXT,
  git_branch TEXT,
  model TEXT,
  created INTEGER,
  modified INTEGER NOT NULL,
  message_count INTEGER NOT NULL,
  exchange_count INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  conversation_count INTEGER NOT NULL, -- chunks that the row in conversations_fts holds …
  conversation_title TEXT NOT NULL,    -- … and the title
  tool_counts TEXT NOT NULL,        -- JSON: tool -> calls
  abandoned TEXT NOT NULL,          -- JSON: segments off the active branch
  first_origin INTEGER,
  title TEXT,
  summary TEXT,
  prompts TEXT, host TEXT NOT NULL DEFAULT '', owner TEXT NOT NULL DEFAULT '', visibility TEXT NOT NULL DEFAULT 'shared', notes TEXT, directories TEXT,                     -- the first two, separated by U+001E
  UNIQUE (file, session_id)
);
INSERT INTO sessions VALUES (1, 'fixture:ca028a63:0199cccc-0000-7000-8000-000000000001', '0199cccc-0000-7000-8000-000000000001', 1, 'pi', 'interactive', NULL, '/home/ann/lighthouse', NULL, NULL, NULL, 1772600760000, 1772600760000, 2, 1, 2, 2, '', '{}', '[]', 4090042719527430660, NULL, NULL, 'where did the lighthouse keep its oil?', 'vm', 'root', 'shared', NULL, NULL);
INSERT INTO sessions VALUES (3, 'fixture:042d49e0:1b1b1b1b-1111-4222-8333-444444444444', '1b1b1b1b-1111-4222-8333-444444444444', 3, 'claude-code', 'interactive', NULL, '/home/bo/kelp', NULL, 'main', NULL, 1785578400000, 1785578401000, 2, 1, 4, 4, '', '{"Edit":1}', '[]', 2648486567768868196, NULL, NULL, 'why does the tide table show Übung twice?', 'vm', 'root', 'shared', NULL, NULL);
CREATE INDEX sessions_key ON sessions (key);
CREATE INDEX sessions_session_id ON sessions (session_id);
CREATE INDEX sessions_modified ON sessions (modified);
CREATE INDEX sessions_counted ON sessions (agent, kind, key, message_count, modified);
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_behind ON sessions (modified) WHERE chunk_count > conversation_count;
CREATE INDEX sessions_headless ON sessions (id) WHERE kind = 'headless';
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  role TEXT,
  tool_name TEXT,
  call_id TEXT,
  entry_id TEXT,
  origin INTEGER,
  segment INTEGER NOT NULL,
  timestamp INTEGER,
  is_error INTEGER NOT NULL,
  source_type TEXT NOT NULL,
  cut INTEGER NOT NULL,
  subwords TEXT NOT NULL,
  content TEXT NOT NULL
);
INSERT INTO chunks VALUES (16777216, 'message', 'user', NULL, NULL, 'a0000000', 4090042719527430660, 1, 1772600760000, 0, 'message', 0, '', 'where did the lighthouse keep its oil?');
INSERT INTO chunks VALUES (16777221, 'message', 'assistant', NULL, NULL, 'a0000001', 3034156222997808948, 2, 1772600760000, 0, 'message', 0, '', 'In the cellar, beside the winch.');
INSERT INTO chunks VALUES (50331648, 'message', 'user', NULL, NULL, '00000000-0000-4000-8000-000000000000', 2648486567768868196, 1, 1785578400000, 0, 'message', 0, '', 'why does the tide table show Übung twice?');
INSERT INTO chunks VALUES (50331653, 'message', 'assistant', NULL, NULL, '00000000-0000-4000-8000-000000000001', 2354982019342186486, 1, 1785578401000, 0, 'message', 0, '日本 本語 語', 'The harbour is listed under 日本語 as well.');
INSERT INTO chunks VALUES (50331658, 'tool_call', 'assistant', 'Edit', 'toolu_1', '00000000-0000-4000-8000-000000000001', 2354982019342186487, 1, 1785578401000, 0, 'message', 0, 'tide Table', 'tool: Edit
path: /home/bo/kelp/tideTable.py');
INSERT INTO chunks VALUES (50331663, 'tool_result', 'tool', 'Edit', 'toolu_1', '00000000-0000-4000-8000-000000000002', 8753479356299658962, 1, 1785578402000, 0, 'message', 0, '', 'the barnacle was removed');
CREATE INDEX chunks_error ON chunks (id, tool_name) WHERE is_error;
CREATE TABLE paths (session INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (session, path)) WITHOUT ROWID;
INSERT INTO paths VALUES (3, '/home/bo/kelp/tideTable.py');
CREATE TABLE tombstones (
  agent TEXT NOT NULL, session_id TEXT NOT NULL, forgotten_at INTEGER NOT NULL, PRIMARY KEY (agent, session_id)
) WITHOUT ROWID;
INSERT INTO tombstones VALUES ('pi', '0199cccc-0000-7000-8000-000000000002', 1795952217087);
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  content, subwords, content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE conversations_fts USING fts5 (
  title, user, assistant, content = '', tokenize = 'porter unicode61'
);
CREATE VIEW heads AS SELECT
  id,
  coalesce(nullif(title, ''), json_extract(notes, '$[0]'), '') AS title,
  coalesce(summary, '') || iif(notes IS NULL, '', char(10) || json_extract(notes, '$[1]') || char(10)
    || json_extract(notes, '$[2]') || char(10) || json_extract(notes, '$[3]') || char(10)
    || json_extract(notes, '$[4]')) AS summary,
  coalesce(prompts, '') AS prompts
  FROM sessions;
CREATE VIRTUAL TABLE heads_fts USING fts5 (
  title, summary, prompts, content = 'heads', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE INDEX chunks_facts ON chunks (id, role, tool_name);
CREATE INDEX sessions_moved ON sessions (id) WHERE directories IS NOT NULL;
INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild');
INSERT INTO heads_fts (heads_fts) VALUES ('rebuild');
INSERT INTO conversations_fts (rowid, title, user, assistant) VALUES (1, '', 'where did the lighthouse keep its oil?', 'In the cellar, beside the winch.');
INSERT INTO conversations_fts (rowid, title, user, assistant) VALUES (3, '', 'why does the tide table show Übung twice?', 'The harbour is listed under 日本語 as well.');
