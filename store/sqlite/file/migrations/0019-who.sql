-- creator, ended_by, changed_by and deleted_by are names of principals; empty for earlier runs, and where the server itself did it.
-- searchable has the texts of the provenance that queries know, as JSON, so that the run index need not be sent whole patches; NULL
-- for none. The table is made again because long columns must come last: SQLite reads all that comes before a column of a row.
CREATE TABLE run_next (
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
  creator TEXT NOT NULL DEFAULT '',
  ended_by TEXT NOT NULL DEFAULT '',
  changed_by TEXT NOT NULL DEFAULT '',
  deleted_by TEXT NOT NULL DEFAULT '',
  aliases TEXT NOT NULL,
  tags TEXT NOT NULL,
  searchable TEXT,
  params TEXT NOT NULL,
  notes TEXT NOT NULL,
  provenance TEXT
) STRICT;

INSERT INTO run_next (key, id, namespace, name, status, created_us, started_us, ended_us, updated_us, deleted_us, heartbeat_s,
    series_count, aliases, tags, searchable, params, notes, provenance)
  SELECT key, id, namespace, name, status, created_us, started_us, ended_us, updated_us, deleted_us, heartbeat_s,
    series_count, aliases, tags, iif(provenance IS NULL, NULL, json_object(
      'user', '',
      'host', ifnull((SELECT value ->> 1 FROM json_each(provenance, '$.environment') WHERE value ->> 0 = 'host'), ''),
      'study', provenance ->> 'study',
      'initial_state', provenance ->> 'initialState',
      'training_data', provenance -> 'trainingData',
      'test_data', provenance -> 'testData',
      'feature_pipeline', provenance ->> 'featurePipeline',
      'logs_location', '',
      'repository', ifnull(provenance ->> '$.code.repository', ''),
      'commit', ifnull(provenance ->> '$.code.commit', ''),
      'branch', ifnull(provenance ->> '$.code.branch', '')
    )), params, notes, provenance
  FROM run;

-- Numbers of runs that are gone are not given out again.
DELETE FROM sqlite_sequence WHERE name = 'run_next';
UPDATE sqlite_sequence SET name = 'run_next' WHERE name = 'run';

DROP TABLE run;
-- Triggers of other tables name this one, which is missing for a moment.
PRAGMA legacy_alter_table = ON;
ALTER TABLE run_next RENAME TO run;
PRAGMA legacy_alter_table = OFF;

CREATE INDEX run_namespace ON run (namespace);
CREATE INDEX run_heartbeat ON run (heartbeat_s) WHERE heartbeat_s > 0 AND status = 'running';

CREATE TRIGGER run_removed AFTER DELETE ON run BEGIN
  DELETE FROM series WHERE run = old.key;
END;

-- Beside deleted_us and trashed_us.
ALTER TABLE namespace ADD COLUMN deleted_by TEXT NOT NULL DEFAULT '';
ALTER TABLE namespace ADD COLUMN trashed_by TEXT NOT NULL DEFAULT '';
