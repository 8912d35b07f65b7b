-- Files and locations that belong to a run. step is -Infinity for one without a step, so that it comes first
-- and takes part in the key. place: reference (uri says where), inline (the row of the same id in
-- artifact_content) or blob (in the blob store under sha256). metadata is a JSON object.
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  name TEXT NOT NULL,
  step REAL NOT NULL,
  kind TEXT NOT NULL,
  place TEXT NOT NULL,
  uri TEXT NOT NULL,
  sha256 BLOB,
  size_bytes INTEGER,
  media_type TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  UNIQUE (run, name, step)
) STRICT;

CREATE INDEX artifact_kind ON artifact (run, kind, name, step);
CREATE INDEX artifact_blob ON artifact (sha256) WHERE place = 'blob';

CREATE TABLE artifact_content (
  artifact INTEGER PRIMARY KEY REFERENCES artifact (id) ON DELETE CASCADE,
  content BLOB NOT NULL
) STRICT;

-- Beside the run and not in it: a row with many params would be written anew for every artifact.
CREATE TABLE artifact_count (
  run INTEGER PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE,
  count INTEGER NOT NULL
) STRICT;

-- Blobs whose last artifact is gone and whose content is still to be destroyed. Triggers fill it, so that no way
-- of removing an artifact (delete, replace, purge of the run) can forget to.
CREATE TABLE unused_blob (
  sha256 BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TRIGGER artifact_added AFTER INSERT ON artifact BEGIN
  INSERT INTO artifact_count (run, count) VALUES (new.run, 1) ON CONFLICT (run) DO UPDATE SET count = count + 1;
  DELETE FROM unused_blob WHERE new.place = 'blob' AND sha256 = new.sha256;
END;

CREATE TRIGGER artifact_removed AFTER DELETE ON artifact BEGIN
  UPDATE artifact_count SET count = count - 1 WHERE run = old.run;
  INSERT OR IGNORE INTO unused_blob
    SELECT old.sha256 WHERE old.place = 'blob'
      AND NOT EXISTS (SELECT 1 FROM artifact WHERE place = 'blob' AND sha256 = old.sha256);
END;
