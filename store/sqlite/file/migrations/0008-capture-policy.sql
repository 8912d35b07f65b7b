-- What clients must not capture in a namespace and below it: 1 forbids.
ALTER TABLE namespace ADD COLUMN forbids_console INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespace ADD COLUMN forbids_code INTEGER NOT NULL DEFAULT 0;

-- Few namespaces forbid anything, and all of those are read at every start.
CREATE INDEX namespace_capture ON namespace (path) WHERE forbids_console = 1 OR forbids_code = 1;
