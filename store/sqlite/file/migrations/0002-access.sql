-- Who may do what. Core holds all of this in memory; the tables are read once, at the start.

CREATE TABLE principal (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  display_name TEXT NOT NULL,
  disabled INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  password TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE member (
  group_name TEXT NOT NULL REFERENCES principal (name) ON DELETE CASCADE,
  member TEXT NOT NULL REFERENCES principal (name) ON DELETE CASCADE,
  PRIMARY KEY (group_name, member)
) STRICT, WITHOUT ROWID;

CREATE INDEX member_member ON member (member);

-- A scope is a namespace ('' for the root), a run in it ('' for none) and an artifact of that ('' for
-- none). The principal may be 'everyone', who has no row.
CREATE TABLE binding (
  namespace TEXT NOT NULL,
  run TEXT NOT NULL,
  artifact TEXT NOT NULL,
  principal TEXT NOT NULL,
  role TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (namespace, run, artifact, principal)
) STRICT, WITHOUT ROWID;

CREATE INDEX binding_run ON binding (run) WHERE run <> '';
CREATE INDEX binding_principal ON binding (principal);

CREATE TABLE closed_scope (
  namespace TEXT NOT NULL,
  run TEXT NOT NULL,
  artifact TEXT NOT NULL,
  PRIMARY KEY (namespace, run, artifact)
) STRICT, WITHOUT ROWID;

CREATE INDEX closed_scope_run ON closed_scope (run) WHERE run <> '';

-- hash is the SHA-256 of the secret in hex, namespaces a JSON list.
CREATE TABLE token (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL REFERENCES principal (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  role TEXT,
  namespaces TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  expires_us INTEGER,
  last_used_us INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX token_principal ON token (principal);

-- The chain of everything done to access and of every deletion. facts is a JSON object in canonical form.
-- docs/formats/audit.md
CREATE TABLE audit (
  number INTEGER PRIMARY KEY,
  time_us INTEGER NOT NULL,
  principal TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  facts TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;

CREATE INDEX audit_principal ON audit (principal);
CREATE INDEX audit_action ON audit (action);
CREATE INDEX audit_target ON audit (target);

-- One row: how many entries there are and the hash of the last.
CREATE TABLE audit_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT;

INSERT INTO audit_head (id, count, hash) VALUES (1, 0, printf('%064d', 0));

CREATE TRIGGER audit_insert BEFORE INSERT ON audit
WHEN NEW.number <> (SELECT count FROM audit_head) + 1
BEGIN SELECT RAISE(ABORT, 'the audit only grows at its end'); END;

CREATE TRIGGER audit_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is never changed'); END;

CREATE TRIGGER audit_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is never shortened'); END;

CREATE TRIGGER audit_head_insert BEFORE INSERT ON audit_head
BEGIN SELECT RAISE(ABORT, 'the audit has one head'); END;

CREATE TRIGGER audit_head_update BEFORE UPDATE ON audit_head WHEN NEW.count <> OLD.count + 1
BEGIN SELECT RAISE(ABORT, 'the audit is never shortened'); END;

CREATE TRIGGER audit_head_delete BEFORE DELETE ON audit_head
BEGIN SELECT RAISE(ABORT, 'the audit is never shortened'); END;

-- The one admin token of the first version becomes a token of the user "admin".
INSERT INTO principal (name, kind, display_name, disabled, created_us)
SELECT 'admin', 'user', '', 0, unixepoch() * 1000000 FROM setting WHERE name = 'admin-token-sha256';

INSERT INTO binding (namespace, run, artifact, principal, role, created_us, created_by)
SELECT '', '', '', 'admin', 'admin', unixepoch() * 1000000, 'owner' FROM setting WHERE name = 'admin-token-sha256';

INSERT INTO token (id, principal, name, hash, namespaces, created_us)
SELECT lower(hex(randomblob(16))), 'admin', 'first', value, '[]', unixepoch() * 1000000
FROM setting WHERE name = 'admin-token-sha256';

DELETE FROM setting WHERE name = 'admin-token-sha256';
