-- What changed, in the order of positions: one counter for this table and the ingest log. A row of the log has the
-- position of its change. `what` is CHANGED of core/ports/journal.ts; id and namespace are of a run that is gone. The
-- oldest rows are pruned, the last one never is: positions are not given out twice.
CREATE TABLE change (
  pos INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  what INTEGER NOT NULL,
  id TEXT,
  namespace TEXT
) STRICT;

INSERT INTO change (pos, run, what)
SELECT max(
  coalesce((SELECT max(pos) FROM log), 0),
  coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'log-position'), 0)
), 0, 0;

DELETE FROM setting WHERE name = 'log-position';

-- Seals the positions that clients see.
INSERT INTO setting (name, value) VALUES ('journal-secret', lower(hex(randomblob(32))));
