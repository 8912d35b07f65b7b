-- Times are microseconds UTC. A run's `key` is its small number inside the store. AUTOINCREMENT keeps
-- numbers of purged runs and series from being given out again: a reader may still remember them.

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE namespace (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  objective_metric TEXT,
  objective_direction TEXT,
  created_us INTEGER NOT NULL
) STRICT;

CREATE TABLE key_description (
  namespace INTEGER NOT NULL REFERENCES namespace (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  unit TEXT NOT NULL,
  direction TEXT,
  description TEXT NOT NULL,
  picture TEXT,
  PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

-- params is a JSON object; tags (pairs), aliases and provenance are JSON text too.
CREATE TABLE run (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  started_us INTEGER,
  ended_us INTEGER,
  updated_us INTEGER NOT NULL,
  deleted_us INTEGER,
  heartbeat_s INTEGER NOT NULL DEFAULT 0,
  series_count INTEGER NOT NULL DEFAULT 0,
  aliases TEXT NOT NULL,
  tags TEXT NOT NULL,
  params TEXT NOT NULL,
  notes TEXT NOT NULL,
  provenance TEXT
) STRICT;

CREATE INDEX run_namespace ON run (namespace);
CREATE INDEX run_heartbeat ON run (heartbeat_s) WHERE heartbeat_s > 0 AND status = 'running';

CREATE TABLE alias (
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  alias TEXT NOT NULL,
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  PRIMARY KEY (alias, namespace)
) STRICT, WITHOUT ROWID;

CREATE INDEX alias_run ON alias (run);

-- The name '' stands for envelopes without a number. lost is a JSON list of [first, last].
CREATE TABLE writer (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  name TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  envelopes INTEGER NOT NULL,
  first_us INTEGER NOT NULL,
  last_us INTEGER NOT NULL,
  lost TEXT NOT NULL,
  UNIQUE (run, name)
) STRICT;

-- Digests of envelopes that have left the ingest log: 8 bytes each, first_seq onwards.
CREATE TABLE digest (
  writer INTEGER NOT NULL REFERENCES writer (id) ON DELETE CASCADE,
  first_seq INTEGER NOT NULL,
  digests BLOB NOT NULL,
  PRIMARY KEY (writer, first_seq)
) STRICT, WITHOUT ROWID;

-- The ingest log. crc is of the body, head_crc of the other columns but crc itself. docs/formats/log-row.md
CREATE TABLE log (
  pos INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  head_crc INTEGER NOT NULL,
  series BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;

CREATE INDEX log_seq ON log (writer, seq) WHERE seq > 0;

-- Log rows that failed a checksum, as they were found: never folded, kept until their run is purged.
CREATE TABLE damaged_log (
  pos INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  head_crc INTEGER NOT NULL,
  series BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;

-- folded_pos: log rows up to here are in the chunks. damaged: what was lost, in words.
CREATE TABLE series (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  key TEXT NOT NULL,
  labels TEXT NOT NULL,
  kind INTEGER NOT NULL,
  folded_pos INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  damaged TEXT,
  state BLOB NOT NULL,
  UNIQUE (run, key, labels)
) STRICT;

-- id is series * 2^20 + number. docs/formats/chunk.md
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  first_ordinal INTEGER NOT NULL,
  count INTEGER NOT NULL,
  step_min INTEGER,
  step_max INTEGER,
  time_min INTEGER,
  time_max INTEGER,
  body BLOB NOT NULL
) STRICT;
