-- The number that a restore names a version by. Those of each name are counted for themselves: id counts what happens in all
-- runs, also in those that a caller may not see. Versions from before keep the number they were given.
ALTER TABLE replaced_artifact ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
UPDATE replaced_artifact SET version = id;

CREATE INDEX replaced_artifact_newest ON replaced_artifact (run, replaced_us, name, version);

-- The last number of a name, as long as there is an artifact or a version of it: no number is given out twice.
CREATE TABLE replaced_version (
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  name TEXT NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

INSERT INTO replaced_version SELECT run, name, max(id) FROM replaced_artifact GROUP BY run, name;
