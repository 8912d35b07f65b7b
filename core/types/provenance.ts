import { TRACKED } from "#lang/words/work-tree.ts";

export interface Code {
  repository: string;
  commit: string;
  branch: string;
  dirtyPatch: string;
  archive: string;
  /** One of TRACKED in lang/words/work-tree.ts, which says what it means together with the next four. */
  trackedChanges: number;
  untrackedFiles?: number | undefined;
  changedSubmodules?: number | undefined;
  /** Why the patch or a part of it is missing. */
  patchLeftOut: string;
  /** 0 where that is unknown. */
  leftOutBytes: number;
}

/**
 * What is needed to run it again. Empty texts and lists mean: not recorded. The initial state, data and pipeline are
 * references (lang/data-reference.ts).
 */
export interface Provenance {
  initialState: string;
  trainingData: readonly string[];
  testData: readonly string[];
  featurePipeline: string;
  study: string;
  /** Where logs are kept outside of this server. */
  logsLocation: string;
  /** The user of the operating system, as the client said. */
  user: string;
  code: Code | undefined;
  command: readonly string[];
  environment: ReadonlyMap<string, string>;
}

export const NO_CODE: Code = Object.freeze({
  repository: "",
  commit: "",
  branch: "",
  dirtyPatch: "",
  archive: "",
  trackedChanges: TRACKED.unknown,
  patchLeftOut: "",
  leftOutBytes: 0,
});

export const NO_PROVENANCE: Provenance = Object.freeze({
  initialState: "",
  trainingData: [],
  testData: [],
  featurePipeline: "",
  study: "",
  logsLocation: "",
  user: "",
  code: undefined,
  command: [],
  environment: new Map(),
});

/** Fields of provenance by their names in the API. */
export const PROVENANCE_FIELDS = {
  initial_state: "initialState",
  training_data: "trainingData",
  test_data: "testData",
  feature_pipeline: "featurePipeline",
  study: "study",
  logs_location: "logsLocation",
  user: "user",
  code: "code",
  command: "command",
  environment: "environment",
} as const satisfies Readonly<Record<string, keyof Provenance>>;

export type ProvenanceField = keyof typeof PROVENANCE_FIELDS;

/** What an update does to provenance, in this order. */
export interface ProvenanceChange {
  /** Takes the place of everything that is recorded. */
  provenance?: Provenance;
  /** Fields that are emptied. */
  clearProvenance?: readonly ProvenanceField[];
  /** Captured by a client: fills in what is missing, and changes nothing else. */
  captured?: Provenance;
  /** Stated by a person or program: texts replace, lists add, the environment is merged per key, code is replaced. */
  addProvenance?: Provenance;
}
