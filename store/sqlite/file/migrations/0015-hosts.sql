-- Hosts are machines with series of their own. Where a column `run` of series, log, damaged_log or change is below 0, it is a
-- host: the negative of its id, which is never given out twice. So nothing that joins `run` finds them.
CREATE TABLE host (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace INTEGER NOT NULL REFERENCES namespace (id),
  name TEXT NOT NULL,
  series_count INTEGER NOT NULL DEFAULT 0,
  written_us INTEGER NOT NULL,
  UNIQUE (namespace, name)
) STRICT;

-- Counted here, or each new host of a large namespace would count all of them.
CREATE TABLE host_count (
  namespace INTEGER PRIMARY KEY REFERENCES namespace (id) ON DELETE CASCADE,
  count INTEGER NOT NULL
) STRICT;

CREATE TRIGGER host_added AFTER INSERT ON host BEGIN
  INSERT INTO host_count (namespace, count) VALUES (new.namespace, 1)
    ON CONFLICT (namespace) DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER host_removed AFTER DELETE ON host BEGIN
  UPDATE host_count SET count = count - 1 WHERE namespace = old.namespace;
END;

-- The same without a reference to `run`.
CREATE TABLE series_next (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  labels TEXT NOT NULL,
  kind INTEGER NOT NULL,
  folded_pos INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  damaged TEXT,
  state BLOB NOT NULL,
  UNIQUE (run, key, labels)
) STRICT;

INSERT INTO series_next (id, run, key, labels, kind, folded_pos, chunks, damaged, state)
  SELECT id, run, key, labels, kind, folded_pos, chunks, damaged, state FROM series;

-- Numbers of series that are gone are not given out again.
DELETE FROM sqlite_sequence WHERE name = 'series_next';
UPDATE sqlite_sequence SET name = 'series_next' WHERE name = 'series';

DROP TABLE series;
ALTER TABLE series_next RENAME TO series;

CREATE TRIGGER run_removed AFTER DELETE ON run BEGIN
  DELETE FROM series WHERE run = old.key;
END;
