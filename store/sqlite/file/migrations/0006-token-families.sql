-- What a token was given out for, the token it was made with, and whose password it was made with. Of
-- tokens that are older than this nothing is known but the names that the server gave out itself.
ALTER TABLE token ADD COLUMN kind TEXT NOT NULL DEFAULT 'token';
ALTER TABLE token ADD COLUMN parent TEXT;
ALTER TABLE token ADD COLUMN password_of TEXT;
-- Of a browser's session: the SHA-256 in hex of the key that its page shows besides the cookie.
ALTER TABLE token ADD COLUMN page_hash TEXT;

UPDATE token SET kind = 'login', password_of = principal WHERE name IN ('log-in', 'web session');
