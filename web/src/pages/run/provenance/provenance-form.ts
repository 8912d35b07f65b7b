import { byteLength } from "#base/byte-length.ts";
import { limits } from "#lang/limits.ts";
import { formatBytes } from "#lang/words/numbers.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Provenance, ProvenanceSchema } from "#proto/cairn/v1/run_pb.ts";

/** What a person can say about a run, as it is typed. References to data are a location, and after "@" a version. */
export interface ProvenanceForm {
  initialState: string;
  trainingData: readonly string[];
  testData: readonly string[];
  featurePipeline: string;
  study: string;
  logsLocation: string;
}

const TEXT_FIELDS = ["initialState", "featurePipeline", "study", "logsLocation"] as const;
const LIST_FIELDS = ["trainingData", "testData"] as const;

/** In requests. */
const NAMES = {
  initialState: "initial_state",
  trainingData: "training_data",
  testData: "test_data",
  featurePipeline: "feature_pipeline",
  study: "study",
  logsLocation: "logs_location",
} as const satisfies Record<keyof ProvenanceForm, string>;

export function formOf(provenance: Provenance | undefined): ProvenanceForm {
  return {
    initialState: provenance?.initialState ?? "",
    trainingData: provenance?.trainingData ?? [],
    testData: provenance?.testData ?? [],
    featurePipeline: provenance?.featurePipeline ?? "",
    study: provenance?.study ?? "",
    logsLocation: provenance?.logsLocation ?? "",
  };
}

export interface ProvenanceChange {
  addProvenance: MessageInitShape<typeof ProvenanceSchema>;
  clearProvenance: string[];
}

/**
 * The call that makes the second of the first; undefined when they are the same. What was not touched is not in it, so
 * that changes of others stay: a list that only grew is added to.
 */
export function changeOf(before: ProvenanceForm, after: ProvenanceForm): ProvenanceChange | undefined {
  const add: Partial<Record<keyof ProvenanceForm, string | string[]>> = {};
  const clear: string[] = [];
  for (const field of TEXT_FIELDS) {
    const text = after[field].trim();
    if (text === before[field]) continue;
    if (text === "") clear.push(NAMES[field]);
    else add[field] = text;
  }
  for (const field of LIST_FIELDS) {
    const rows = rowsOf(after[field]);
    const old = before[field];
    const grows = old.every((row, i) => rows[i] === row);
    if (grows && rows.length === old.length) continue;
    if (!grows) clear.push(NAMES[field]);
    const added = grows ? rows.slice(old.length) : rows;
    if (added.length > 0) add[field] = added;
  }
  if (clear.length === 0 && Object.keys(add).length === 0) return undefined;
  return { addProvenance: add as ProvenanceChange["addProvenance"], clearProvenance: clear };
}

/** What is wrong, by the field and, in a list, the row; nothing if all is valid. */
export function faultsOf(form: ProvenanceForm): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  for (const field of TEXT_FIELDS) if (isTooLong(form[field])) faults.set(field, TOO_LONG);
  for (const field of LIST_FIELDS) {
    const seen = new Set<string>();
    form[field].forEach((row, i) => {
      const text = row.trim();
      if (text !== "" && seen.has(text)) faults.set(`${field} ${i}`, "This is in the list already.");
      else if (isTooLong(text)) faults.set(`${field} ${i}`, TOO_LONG);
      seen.add(text);
    });
  }
  return faults;
}

const TOO_LONG = `Too long: at most ${formatBytes(limits.provenanceTextBytesMax)}.`;

function isTooLong(text: string): boolean {
  return byteLength(text.trim()) > limits.provenanceTextBytesMax;
}

/** Empty rows say nothing. */
function rowsOf(rows: readonly string[]): string[] {
  return rows.map((row) => row.trim()).filter((row) => row !== "");
}
