-- Changes that caches follow are few among those of runs, and are asked for every second: from CHANGED.purged on.
CREATE INDEX change_rare ON change (pos) WHERE what >= 16;
