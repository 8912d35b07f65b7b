-- by_text is 1 where the id of a run was given as a text by a caller who could find no run by it: it stays a text for
-- all who cannot read that run. A link to the run itself may be beside it.
CREATE TABLE source_link_next (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  source TEXT NOT NULL,
  artifact TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  by_text INTEGER NOT NULL,
  UNIQUE (run, source, artifact, by_text)
) STRICT;

INSERT INTO source_link_next (id, run, source, artifact, created_us, by_text)
  SELECT id, run, source, artifact, created_us, 0 FROM source_link;

-- Numbers of links that are gone are not given out again.
DELETE FROM sqlite_sequence WHERE name = 'source_link_next';
UPDATE sqlite_sequence SET name = 'source_link_next' WHERE name = 'source_link';

DROP TABLE source_link;
ALTER TABLE source_link_next RENAME TO source_link;

-- Both have the id behind their column, so that pages come in order without sorting.
CREATE INDEX source_link_run ON source_link (run);
CREATE INDEX source_link_source ON source_link (source);
