-- Bodies of envelopes without a number that are to be stored once, for a while: a later one with the same hash is dropped.
-- number counts those of a run, rising: of too many the first are forgotten.
CREATE TABLE repeat (
  run INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  hash BLOB NOT NULL,
  applied_us INTEGER NOT NULL,
  PRIMARY KEY (run, number),
  UNIQUE (run, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX repeat_applied ON repeat (applied_us);
