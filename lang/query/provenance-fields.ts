/** What queries know of the provenance of a run, by the names of the fields. */
export const PROVENANCE_TEXTS = [
  "user",
  "host",
  "study",
  "initial_state",
  "feature_pipeline",
  "logs_location",
  "repository",
  "commit",
  "branch",
] as const;
/** Fields with many values. */
export const PROVENANCE_LISTS = ["training_data", "test_data"] as const;

export type ProvenanceText = (typeof PROVENANCE_TEXTS)[number];
export type ProvenanceList = (typeof PROVENANCE_LISTS)[number];

/** Empty texts are missing. */
export type SearchableProvenance = Record<ProvenanceText, string> & Record<ProvenanceList, readonly string[]>;

export function isProvenanceText(name: string): name is ProvenanceText {
  return PROVENANCE_TEXTS.some((one) => one === name);
}

export function isProvenanceList(name: string): name is ProvenanceList {
  return PROVENANCE_LISTS.some((one) => one === name);
}
