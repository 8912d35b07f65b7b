import { splitDataReference } from "#lang/data-reference.ts";
import { describePatch, readPatch, type PatchLine } from "#lang/words/patch.ts";
import { describeWorkTree } from "#lang/words/work-tree.ts";
import type { Code, Provenance, Run } from "#proto/cairn/v1/run_pb.ts";
import { machineOf } from "#sdk/run-facts.ts";
import { padEnd, paint, printable, widthOf } from "../output/text.ts";

const PATCH_LINES_MAX = 400;
const DIGEST_SHOWN = "sha256:".length + 12;

export type Labelled = readonly [label: string, text: string];

/** The most important of its provenance: code, machine, data. */
export function provenanceSummary(run: Run): Labelled[] {
  const { provenance } = run;
  if (provenance === undefined) return [];
  const { code, environment } = provenance;
  const lines: Labelled[] = [
    ["code", code === undefined ? "" : codeWords(code)],
    // Another process of the run had other code.
    ["", environment["note:code"] ?? ""],
    ["machine", machineOf(run)],
    ["user", provenance.user],
    ["trained on", provenance.trainingData.map(shortReference).join("  ")],
    ["tested on", provenance.testData.map(shortReference).join("  ")],
    ["began from", shortReference(provenance.initialState)],
    ["features", shortReference(provenance.featurePipeline)],
    ["study", provenance.study],
    ["logs", provenance.logsLocation],
  ];
  return lines.filter(([, text]) => text !== "").map(([label, text]) => [label, printable(text)]);
}

/** "1f0c2a91b3 on main, dirty (+1 -1 in train.py), 3 untracked files  git@example.org:team/asr.git". */
function codeWords(code: Code): string {
  const { commit, branch, repository } = code;
  if (commit === "" && repository === "" && code.dirtyPatch === "" && code.patchLeftOut === "") return "";
  const place = `${commit === "" ? "no commit" : commit.slice(0, 10)}${branch === "" ? "" : ` on ${branch}`}`;
  return `${place}, ${stateWords(code)}${repository === "" ? "" : `  ${repository}`}`;
}

function stateWords(code: Code): string {
  const words = describeWorkTree(code);
  if (code.dirtyPatch === "") return words;
  return words.replace(/^dirty/, () => `dirty (${describePatch(code.dirtyPatch)})`);
}

/** A digest is recognized by its first digits. */
function shortReference(text: string): string {
  const { location, version } = splitDataReference(text);
  return version.startsWith("sha256:") ? `${location}@${version.slice(0, DIGEST_SHOWN)}…` : text;
}

/** All of it, with the environment and the patch. */
export function provenanceInFull(provenance: Provenance, colour: boolean): string[] {
  const { code } = provenance;
  const rows: Labelled[] = [
    ["initial state", provenance.initialState],
    ...provenance.trainingData.map((data) => ["training data", data] as const),
    ...provenance.testData.map((data) => ["test data", data] as const),
    ["feature pipeline", provenance.featurePipeline],
    ["study", provenance.study],
    ["logs location", provenance.logsLocation],
    ["user", provenance.user],
    ["repository", code?.repository ?? ""],
    ["commit", code?.commit ?? ""],
    ["branch", code?.branch ?? ""],
    ["archive", code?.archive ?? ""],
    ["state", code === undefined ? "" : stateWords(code)],
    ["patch left out", code?.patchLeftOut ?? ""],
    ["command", provenance.command.join(" ")],
    ...Object.keys(provenance.environment)
      .sort()
      .map((key) => [key, provenance.environment[key]!] as const),
  ];
  const lines = labelled(
    rows.filter(([, text]) => text !== ""),
    colour,
  );
  if (code !== undefined && code.dirtyPatch !== "") {
    const patch = readPatch(code.dirtyPatch.trimEnd());
    lines.push("", ...patch.slice(0, PATCH_LINES_MAX).map((line) => paintPatchLine(line, colour)));
    if (patch.length > PATCH_LINES_MAX)
      lines.push(`… ${patch.length - PATCH_LINES_MAX} more lines; --json has them`);
  }
  return lines;
}

/** Labels in one column, texts in another. */
export function labelled(rows: readonly Labelled[], colour: boolean): string[] {
  const width = rows.reduce((most, [label]) => Math.max(most, Math.min(28, widthOf(label))), 0);
  return rows.map(
    ([label, text]) => `${paint(colour, "dim", padEnd(printable(label), width))}  ${printable(text)}`,
  );
}

const PATCH_STYLES: Readonly<Record<PatchLine["kind"], Parameters<typeof paint>[1]>> = {
  added: "green",
  removed: "red",
  hunk: "cyan",
  file: "cyan",
  same: [],
};

export function paintPatchLine({ kind, text }: PatchLine, colour: boolean): string {
  return paint(colour, PATCH_STYLES[kind], printable(text));
}
