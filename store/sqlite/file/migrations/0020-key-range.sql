-- The range that a metric can have.
ALTER TABLE key_description ADD COLUMN min REAL;
ALTER TABLE key_description ADD COLUMN max REAL;
