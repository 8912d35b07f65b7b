-- Which artifacts became models, or are no longer, and at which change: followers of runs are sent these alone. pos is above that of the
-- change before, and not above its own. Triggers fill it, so that no way of writing an artifact can forget to; what goes
-- with its run needs no row. Pruned with the table of changes.
CREATE TABLE changed_model (
  pos INTEGER NOT NULL,
  artifact INTEGER NOT NULL,
  PRIMARY KEY (pos, artifact)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER model_added AFTER INSERT ON artifact WHEN new.kind = 'model' BEGIN
  INSERT OR IGNORE INTO changed_model SELECT max(pos) + 1, new.id FROM change;
END;

CREATE TRIGGER model_removed AFTER DELETE ON artifact
WHEN old.kind = 'model' AND EXISTS (SELECT 1 FROM run WHERE key = old.run) BEGIN
  INSERT OR IGNORE INTO changed_model SELECT max(pos) + 1, old.id FROM change;
END;

-- A follower that begins goes through all models, and through nothing else.
CREATE INDEX artifact_model ON artifact (id) WHERE kind = 'model';
