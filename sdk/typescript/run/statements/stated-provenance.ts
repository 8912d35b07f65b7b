import { joinDataReference, type DataVersion } from "#lang/data-reference.ts";
import type { ProvenanceInit } from "../open-request.ts";
import { keyProblem } from "../problems.ts";
import { quoted } from "../notices.ts";
import { wrong } from "../wrong.ts";

/**
 * What a program says about how a run is made. Data are references: a location, and its version or digest after "@",
 * such as `s3://data/c4@v3` or `git@example.org:team/features.git@4f2a91c`.
 */
export interface StatedProvenance {
  /** What training began from, such as the weights of another model, or the id of a run. */
  initialState?: string | undefined;
  trainingData?: string | readonly string[] | undefined;
  testData?: string | readonly string[] | undefined;
  featurePipeline?: string | undefined;
  study?: string | undefined;
  /** Where logs are kept outside of the server. */
  logsLocation?: string | undefined;
}

/** What data are for. */
export type DataRole = "train" | "test" | "initialState" | "featurePipeline";

export type { DataVersion };

type Field = keyof StatedProvenance;

const TEXTS = ["initialState", "featurePipeline", "study", "logsLocation"] as const;
const LISTS = ["trainingData", "testData"] as const;
const FIELDS: ReadonlySet<string> = new Set([...TEXTS, ...LISTS]);
const FIELD_OF: Readonly<Record<DataRole, Field>> = {
  train: "trainingData",
  test: "testData",
  initialState: "initialState",
  featurePipeline: "featurePipeline",
};
const TEXT_BYTES_MAX = 8 << 10;
const LIST_MAX = 1_000;

/** undefined when nothing is stated. Throws TypeError for anything that is not a reference or a text. */
export function statedProvenance(given: StatedProvenance): ProvenanceInit | undefined {
  const stated: ProvenanceInit = {};
  for (const name of TEXTS) {
    const value: unknown = given[name];
    if (value !== undefined) stated[name] = checked(name, value);
  }
  for (const name of LISTS) {
    const value: unknown = given[name];
    if (value === undefined) continue;
    const all: unknown[] = Array.isArray(value) ? value : [value];
    if (all.length > LIST_MAX) throw wrong(name, `${all.length} references`, `there are at most ${LIST_MAX}`);
    if (all.length > 0) stated[name] = all.map((one) => checked(name, one));
  }
  return Object.keys(stated).length === 0 ? undefined : stated;
}

/** The same of `run.provenance()`: a name that is misspelled would be lost otherwise. */
export function namedProvenance(given: StatedProvenance): ProvenanceInit | undefined {
  if (typeof given !== "object" || given === null) throw new TypeError("give an object of fields and values");
  for (const name of Object.keys(given)) {
    if (!FIELDS.has(name)) throw new TypeError(`${quoted(name)} is not one of ${[...FIELDS].join(", ")}`);
  }
  return statedProvenance(given);
}

/** Throws for an unknown role and for a location, version or digest that cannot be kept. */
export function dataProvenance(role: DataRole, location: string, version: DataVersion): ProvenanceInit {
  if (!Object.hasOwn(FIELD_OF, role)) {
    throw new TypeError(`role ${quoted(role)} is not one of ${Object.keys(FIELD_OF).join(", ")}`);
  }
  if (typeof location !== "string") throw new TypeError("its location is not a text");
  return statedProvenance({ [FIELD_OF[role]]: joinDataReference(location, version) })!;
}

/** What TorchX calls roles, as the name of the artifact of a source. */
const ROLES: Readonly<Record<string, Field>> = {
  train: "trainingData",
  training_data: "trainingData",
  test: "testData",
  test_data: "testData",
  initial_state: "initialState",
  feature_pipeline: "featurePipeline",
};

/** undefined for any other name of an artifact, and for a location that cannot be kept. */
export function provenanceOfRole(artifactName: string, location: string): ProvenanceInit | undefined {
  if (!Object.hasOwn(ROLES, artifactName)) return undefined;
  try {
    return statedProvenance({ [ROLES[artifactName]!]: location });
  } catch {
    return undefined;
  }
}

function checked(name: Field, value: unknown): string {
  if (typeof value !== "string") throw wrong(name, value, "it is not a text");
  const problem = keyProblem(value, TEXT_BYTES_MAX);
  if (problem !== undefined) throw wrong(name, value, problem);
  return value;
}
