-- Uploads in pieces that are not finished; their bytes are in the blob store under the same id. owner is the first half of the id.
-- core is the one that worked on it last, shared is 1 once there was another. Files without a row are from before this table.
CREATE TABLE upload (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  touched_us INTEGER NOT NULL,
  core TEXT NOT NULL,
  shared INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX upload_owner ON upload (owner);
CREATE INDEX upload_touched ON upload (touched_us);
