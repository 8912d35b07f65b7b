-- Lines of the runs' logs, numbered by arrival from 0 per run. Each envelope's lines are rows of line_row first;
-- a background step moves them into larger, compressed pieces in line_chunk. Both have the same columns: first
-- is the number of the piece's first line, size the bytes of its text, received_us the time of the lines that
-- came without one, crc of the body, head_crc of the other columns. Times are REAL because 2^53 is one of them, which
-- is no safe integer. docs/formats/log-lines.md
CREATE TABLE line_row (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  size INTEGER NOT NULL,
  time_min REAL NOT NULL,
  time_max REAL NOT NULL,
  received_us INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  head_crc INTEGER NOT NULL,
  sources BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;

CREATE INDEX line_row_place ON line_row (run, first, count, size);

CREATE TABLE line_chunk (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  first INTEGER NOT NULL,
  count INTEGER NOT NULL,
  size INTEGER NOT NULL,
  time_min REAL NOT NULL,
  time_max REAL NOT NULL,
  received_us INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  head_crc INTEGER NOT NULL,
  sources BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;

CREATE INDEX line_chunk_place ON line_chunk (run, first);

-- How many lines a run has been given, and the bytes of their text.
CREATE TABLE line_total (
  run INTEGER PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE,
  lines INTEGER NOT NULL,
  size INTEGER NOT NULL
) STRICT;
