import { describeWorkTree, TRACKED } from "#lang/words/work-tree.ts";
import {
  NO_PROVENANCE,
  PROVENANCE_FIELDS,
  type Code,
  type Provenance,
  type ProvenanceChange,
} from "./provenance.ts";

/** Where it is said that something about the code is not as recorded; clients write notes of their own there, too. */
export const CODE_NOTE = "note:code";
/** A run that is started again and again does not fill its environment with notes. */
const NOTE_LENGTH_MAX = 1_000;

/**
 * The provenance of a run after a change. Nothing is lost by the order in which changes arrive: what is captured never
 * replaces anything, so that it may come before or after what is stated, and from several processes.
 */
export function mergeProvenance(
  before: Provenance | undefined,
  { provenance, clearProvenance, captured, addProvenance }: ProvenanceChange,
): Provenance | undefined {
  let merged = provenance ?? before;
  if (merged !== undefined && clearProvenance !== undefined) merged = cleared(merged, clearProvenance);
  if (captured !== undefined) merged = merged === undefined ? captured : filledIn(merged, captured);
  if (addProvenance !== undefined) merged = added(merged ?? NO_PROVENANCE, addProvenance);
  return merged;
}

function cleared(
  provenance: Provenance,
  fields: NonNullable<ProvenanceChange["clearProvenance"]>,
): Provenance {
  const empty = fields.map((field) => [PROVENANCE_FIELDS[field], NO_PROVENANCE[PROVENANCE_FIELDS[field]]]);
  return { ...provenance, ...Object.fromEntries(empty) };
}

function filledIn(known: Provenance, captured: Provenance): Provenance {
  const environment = new Map([...captured.environment, ...known.environment]);
  let { code } = known;
  if (code === undefined) ({ code } = captured);
  else if (captured.code !== undefined) {
    // The archive is sent later than what else is known of the same code.
    if (code.archive === "" && isSame(code, captured.code))
      code = { ...code, archive: captured.code.archive };
    if (isOther(code, captured.code)) addNote(environment, captured.code);
  }
  return {
    initialState: known.initialState || captured.initialState,
    trainingData: known.trainingData.length > 0 ? known.trainingData : captured.trainingData,
    testData: known.testData.length > 0 ? known.testData : captured.testData,
    featurePipeline: known.featurePipeline || captured.featurePipeline,
    study: known.study || captured.study,
    logsLocation: known.logsLocation || captured.logsLocation,
    user: known.user || captured.user,
    code,
    command: known.command.length > 0 ? known.command : captured.command,
    environment,
  };
}

function added(known: Provenance, stated: Provenance): Provenance {
  return {
    initialState: stated.initialState || known.initialState,
    trainingData: [...new Set([...known.trainingData, ...stated.trainingData])],
    testData: [...new Set([...known.testData, ...stated.testData])],
    featurePipeline: stated.featurePipeline || known.featurePipeline,
    study: stated.study || known.study,
    logsLocation: stated.logsLocation || known.logsLocation,
    user: stated.user || known.user,
    code: stated.code ?? known.code,
    // An order of words has no meaning in parts.
    command: stated.command.length > 0 ? stated.command : known.command,
    environment: new Map([...known.environment, ...stated.environment]),
  };
}

/** In everything but the archive. */
function isSame(a: Code, b: Code): boolean {
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof Code>;
  return [...fields].every((field) => field === "archive" || a[field] === b[field]);
}

/**
 * Whether another process ran other code than the recorded. An unknown value is not a difference. Untracked files do not
 * count: a run may make them itself.
 */
function isOther(recorded: Code, captured: Code): boolean {
  const differs = <T>(a: T, b: T, unknown: T) => a !== unknown && b !== unknown && a !== b;
  return (
    differs(recorded.commit, captured.commit, "") ||
    differs(recorded.trackedChanges, captured.trackedChanges, TRACKED.unknown) ||
    differs(recorded.changedSubmodules, captured.changedSubmodules, undefined) ||
    (hasPatch(recorded) && hasPatch(captured) && recorded.dirtyPatch !== captured.dirtyPatch)
  );
}

/** Whether the patch, which may be empty, is known. */
function hasPatch({ dirtyPatch, patchLeftOut, trackedChanges }: Code): boolean {
  return patchLeftOut === "" && (dirtyPatch !== "" || trackedChanges === TRACKED.none);
}

function addNote(environment: Map<string, string>, code: Code): void {
  const commit = code.commit === "" ? "unknown commit" : `commit ${code.commit}`;
  const note = `a later process ran other code: ${commit}, ${describeWorkTree(code)}`;
  const before = environment.get(CODE_NOTE);
  if (before === undefined) environment.set(CODE_NOTE, note);
  else if (!before.includes(note) && before.length + note.length < NOTE_LENGTH_MAX) {
    environment.set(CODE_NOTE, `${before}; ${note}`);
  }
}
