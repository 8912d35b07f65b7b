-- Links from a run to what it was made from. source is the id of a run or any other text, and no
-- reference: it stays when that run is purged. artifact is '' for none. id tells the order of adding.
CREATE TABLE source_link (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  source TEXT NOT NULL,
  artifact TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  UNIQUE (run, source, artifact)
) STRICT;

-- Both have the id behind their column, so that pages come in order without sorting.
CREATE INDEX source_link_run ON source_link (run);
CREATE INDEX source_link_source ON source_link (source);
