-- Names of principals; empty for earlier runs, and where the server itself did it.
ALTER TABLE run ADD COLUMN creator TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN ended_by TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN changed_by TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN deleted_by TEXT NOT NULL DEFAULT '';
-- Beside deleted_us and trashed_us.
ALTER TABLE namespace ADD COLUMN deleted_by TEXT NOT NULL DEFAULT '';
ALTER TABLE namespace ADD COLUMN trashed_by TEXT NOT NULL DEFAULT '';

-- The texts of the provenance that queries know, as JSON, so that the run index need not be sent whole patches; NULL for none.
ALTER TABLE run ADD COLUMN searchable TEXT;
UPDATE run SET searchable = json_object(
  'user', '',
  'host', ifnull((SELECT value ->> 1 FROM json_each(provenance, '$.environment') WHERE value ->> 0 = 'host'), ''),
  'study', provenance ->> 'study',
  'initial_state', provenance ->> 'initialState',
  'training_data', provenance -> 'trainingData',
  'test_data', provenance -> 'testData',
  'feature_pipeline', provenance ->> 'featurePipeline',
  'logs_location', '',
  'repository', ifnull(provenance ->> '$.code.repository', ''),
  'commit', ifnull(provenance ->> '$.code.commit', ''),
  'branch', ifnull(provenance ->> '$.code.branch', '')
) WHERE provenance IS NOT NULL;
