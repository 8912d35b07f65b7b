import { describePatch, readPatch, type PatchLine } from "#lang/words/patch.ts";
import type { Provenance, Run } from "#proto/cairn/v1/run_pb.ts";
import { machineOf } from "#sdk/run-facts.ts";
import { padEnd, paint, printable, widthOf } from "../output/text.ts";

const PATCH_LINES_MAX = 400;

export type Labelled = readonly [label: string, text: string];

/** The most important of its provenance: code, data, machine. */
export function provenanceSummary(run: Run): Labelled[] {
  const { provenance } = run;
  if (provenance === undefined) return [];
  const { code } = provenance;
  const lines: Labelled[] = [];
  if (code !== undefined && code.commit !== "") {
    const branch = code.branch === "" ? "" : ` on ${code.branch}`;
    const dirty = code.dirtyPatch === "" ? "clean" : `with ${describePatch(code.dirtyPatch)} uncommitted`;
    const from = code.repository === "" ? "" : `  ${code.repository}`;
    lines.push(["code", `${code.commit.slice(0, 10)}${branch}, ${dirty}${from}`]);
  }
  const machine = machineOf(run);
  if (machine !== "") lines.push(["machine", machine]);
  for (const [label, data] of [
    ["trained on", provenance.trainingData],
    ["tested on", provenance.testData],
  ] as const) {
    if (data.length > 0) lines.push([label, data.join("  ")]);
  }
  if (provenance.initialState !== "") lines.push(["began from", provenance.initialState]);
  if (provenance.study !== "") lines.push(["study", provenance.study]);
  return lines.map(([label, text]) => [label, printable(text)]);
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
    ["repository", code?.repository ?? ""],
    ["commit", code?.commit ?? ""],
    ["branch", code?.branch ?? ""],
    ["archive", code?.archive ?? ""],
    [
      "dirty",
      code === undefined ? "" : code.dirtyPatch === "" ? "no" : `yes, ${describePatch(code.dirtyPatch)}`,
    ],
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
