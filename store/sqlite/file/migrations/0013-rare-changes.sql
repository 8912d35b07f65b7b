-- Rare changes, from CHANGED.purged on, are few among those of runs. Caches ask for them twice a second.
CREATE INDEX change_rare ON change (pos) WHERE what >= 16;
