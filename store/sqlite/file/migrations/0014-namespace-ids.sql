-- AUTOINCREMENT, so that the id of a namespace that is gone is never given to another one. Foreign keys are off here: dropping
-- the table must not take along what refers to it. tags are JSON text (pairs).
CREATE TABLE namespace_next (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  objective_metric TEXT,
  objective_direction TEXT,
  created_us INTEGER NOT NULL,
  forbids_console INTEGER NOT NULL DEFAULT 0,
  forbids_code INTEGER NOT NULL DEFAULT 0,
  tags TEXT NOT NULL DEFAULT '[]'
) STRICT;

INSERT INTO namespace_next
  (id, path, description, objective_metric, objective_direction, created_us, forbids_console, forbids_code)
  SELECT id, path, description, objective_metric, objective_direction, created_us, forbids_console, forbids_code
  FROM namespace;

DROP TABLE namespace;
ALTER TABLE namespace_next RENAME TO namespace;

CREATE INDEX namespace_capture ON namespace (path) WHERE forbids_console = 1 OR forbids_code = 1;
