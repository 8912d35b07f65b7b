-- The id of the token and the address of the caller; '' where there was none, and in entries from before.
ALTER TABLE audit ADD COLUMN token TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN address TEXT NOT NULL DEFAULT '';

-- The principal who wrote it; '' for artifacts from before.
ALTER TABLE artifact ADD COLUMN created_by TEXT NOT NULL DEFAULT '';

-- Artifacts that were replaced or deleted, kept for a while. id is the version that a restore names; it is never given out twice.
-- content is that of an inline artifact.
CREATE TABLE replaced_artifact (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
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
  created_by TEXT NOT NULL,
  replaced_us INTEGER NOT NULL,
  replaced_by TEXT NOT NULL,
  content BLOB
) STRICT;

CREATE INDEX replaced_artifact_name ON replaced_artifact (run, name, step);
CREATE INDEX replaced_artifact_size ON replaced_artifact (run, place, size_bytes);
CREATE INDEX replaced_artifact_time ON replaced_artifact (replaced_us);
CREATE INDEX replaced_artifact_blob ON replaced_artifact (sha256) WHERE place = 'blob';

-- A blob is unused when neither an artifact nor a replaced one has it.
DROP TRIGGER artifact_removed;

CREATE TRIGGER artifact_removed AFTER DELETE ON artifact BEGIN
  UPDATE artifact_count SET count = count - 1 WHERE run = old.run;
  INSERT OR IGNORE INTO unused_blob
    SELECT old.sha256 WHERE old.place = 'blob'
      AND NOT EXISTS (SELECT 1 FROM artifact WHERE place = 'blob' AND sha256 = old.sha256)
      AND NOT EXISTS (SELECT 1 FROM replaced_artifact WHERE place = 'blob' AND sha256 = old.sha256);
END;

CREATE TRIGGER replaced_artifact_removed AFTER DELETE ON replaced_artifact BEGIN
  INSERT OR IGNORE INTO unused_blob
    SELECT old.sha256 WHERE old.place = 'blob'
      AND NOT EXISTS (SELECT 1 FROM artifact WHERE place = 'blob' AND sha256 = old.sha256)
      AND NOT EXISTS (SELECT 1 FROM replaced_artifact WHERE place = 'blob' AND sha256 = old.sha256);
END;
