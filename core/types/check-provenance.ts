import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost, requireText } from "./check.ts";
import { PROVENANCE_FIELDS, type Code, type Provenance, type ProvenanceField } from "./provenance.ts";

const COUNT_MAX = 2 ** 31 - 1;
const TRACKED_MAX = 2;

export function requireProvenance(provenance: Provenance): Provenance {
  const { trainingData, testData, command, environment, code } = provenance;
  requireAtMost(trainingData.length, limits.provenanceListMax, "references to training data");
  requireAtMost(testData.length, limits.provenanceListMax, "references to test data");
  const short = [
    provenance.initialState,
    provenance.featurePipeline,
    provenance.study,
    provenance.logsLocation,
    provenance.user,
    ...trainingData,
    ...testData,
    ...(code === undefined
      ? []
      : [code.repository, code.commit, code.branch, code.archive, code.patchLeftOut]),
  ];
  for (const text of short) requireText(text, limits.provenanceTextBytesMax, "a text of provenance");
  const long = [...command, ...[...environment].flat(), ...(code === undefined ? [] : [code.dirtyPatch])];
  let left: number = limits.provenanceBytesMax;
  for (const text of [...short, ...long]) left -= Buffer.byteLength(requireText(text, left, "provenance"));
  if (code !== undefined) requireCounts(code);
  return provenance;
}

export function requireFields(names: readonly string[]): readonly ProvenanceField[] {
  const known = Object.keys(PROVENANCE_FIELDS) as ProvenanceField[];
  return names.map((name) => {
    const field = known.find((one) => one === name);
    if (field !== undefined) return field;
    throw new CairnError("invalid", `cannot clear ${quote(name)}: provenance has no such field`, {
      hint: `its fields are ${known.join(", ")}`,
    });
  });
}

function requireCounts({ trackedChanges, untrackedFiles, changedSubmodules, leftOutBytes }: Code): void {
  const counts: [what: string, count: number | undefined, max: number][] = [
    ["tracked changes", trackedChanges, TRACKED_MAX],
    ["untracked files", untrackedFiles, COUNT_MAX],
    ["changed submodules", changedSubmodules, COUNT_MAX],
    ["size of a missing patch", leftOutBytes, Number.MAX_SAFE_INTEGER],
  ];
  for (const [what, count = 0, max] of counts) {
    if (Number.isInteger(count) && count >= 0 && count <= max) continue;
    throw new CairnError("invalid", `cannot accept ${what} "${count}": it is not 0 to ${max}`);
  }
}
