-- When the namespace itself was put into the trash, and since when it is there, by itself or with one above it: so runs need no mark.
ALTER TABLE namespace ADD COLUMN deleted_us INTEGER;
ALTER TABLE namespace ADD COLUMN trashed_us INTEGER;
