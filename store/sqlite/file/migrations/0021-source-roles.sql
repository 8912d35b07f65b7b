-- role is 0 for a link that was added, else what the provenance of the run says that the source was to it (SOURCE_ROLES in
-- core/types/source-role.ts). Those follow the provenance, and are by text: its author need not see that run.
CREATE TABLE source_link_next (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  source TEXT NOT NULL,
  artifact TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  by_text INTEGER NOT NULL,
  role INTEGER NOT NULL,
  UNIQUE (run, source, artifact, by_text, role)
) STRICT;

INSERT INTO source_link_next (id, run, source, artifact, created_us, by_text, role)
  SELECT id, run, source, artifact, created_us, by_text, 0 FROM source_link;

-- Numbers of links that are gone are not given out again.
DELETE FROM sqlite_sequence WHERE name = 'source_link_next';
UPDATE sqlite_sequence SET name = 'source_link_next' WHERE name = 'source_link';

DROP TABLE source_link;
ALTER TABLE source_link_next RENAME TO source_link;

-- Both have the id behind their column, so that pages come in order without sorting.
CREATE INDEX source_link_run ON source_link (run);
CREATE INDEX source_link_source ON source_link (source);

INSERT INTO source_link (run, source, artifact, created_us, by_text, role)
  SELECT DISTINCT run, source, '', created_us, 1, role FROM (
    SELECT key AS run, searchable ->> 'initial_state' AS source, created_us, 1 AS role FROM run
    UNION ALL SELECT run.key, item.value, created_us, 2 FROM run, json_each(searchable, '$.training_data') AS item
    UNION ALL SELECT run.key, item.value, created_us, 3 FROM run, json_each(searchable, '$.test_data') AS item
    UNION ALL SELECT key, searchable ->> 'feature_pipeline', created_us, 4 FROM run
  ) WHERE source <> '' AND octet_length(source) <= 8192 ORDER BY run, role;
