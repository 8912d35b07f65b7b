import { structuredPatch } from "diff";

interface PatchLine {
  kind: "file" | "hunk" | "added" | "removed" | "same";
  text: string;
}

/** More than anybody reads here; the run's own page has the whole patch. */
export const PATCH_LINES_MAX = 2_000;
const EDITS_MAX = 1_000;
const CONTEXT_LINES = 3;

/** "+12 −3 in schedule.py", or in so many files. */
export function describePatch(patch: string): string {
  let added = 0;
  let removed = 0;
  const files: string[] = [];
  for (const { kind, text } of readPatch(patch)) {
    if (kind === "added") added++;
    else if (kind === "removed") removed++;
    else if (text.startsWith("+++ "))
      files.push(
        text
          .slice(4)
          .replace(/^[a-z]\//, "")
          .trim(),
      );
  }
  const place = files.length === 1 ? files[0]! : `${files.length} files`;
  return `+${added} −${removed}${files.length === 0 ? "" : ` in ${place}`}`;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** The lines of a patch as what they are. How many lines a hunk has is in its head, so that a removed line of dashes is not taken for the name of a file. */
export function readPatch(patch: string): PatchLine[] {
  let oldLeft = 0;
  let newLeft = 0;
  return linesOf(patch).map((text) => {
    const hunk = HUNK.exec(text);
    if (hunk !== null) {
      oldLeft = Number(hunk[1] ?? 1);
      newLeft = Number(hunk[2] ?? 1);
      return { kind: "hunk", text };
    }
    if (oldLeft + newLeft <= 0 || text.startsWith("diff --git ")) {
      oldLeft = newLeft = 0;
      return { kind: "file", text };
    }
    const kind = kindOf(text);
    if (kind !== "added") oldLeft--;
    if (kind !== "removed") newLeft--;
    return { kind, text };
  });
}

export interface PatchComparison {
  /** "own": the baseline has no changes, so these are the run's own. "missing": the run has none, so these are the baseline's. */
  how: "same" | "own" | "missing" | "between" | "too different";
  lines: PatchLine[];
}

/** How the uncommitted changes of a run differ from those of the baseline. Where both have some, the two patches are held against each other line by line. */
export function comparePatches(base: string, other: string): PatchComparison {
  if (base === other) return { how: "same", lines: [] };
  if (base === "") return { how: "own", lines: readPatch(other) };
  if (other === "") return { how: "missing", lines: readPatch(base) };
  const found = structuredPatch("", "", `${base.trimEnd()}\n`, `${other.trimEnd()}\n`, "", "", {
    context: CONTEXT_LINES,
    maxEditLength: EDITS_MAX,
  });
  if (found === undefined) return { how: "too different", lines: [] };
  const lines: PatchLine[] = [];
  for (const { oldStart, oldLines, newStart, newLines, lines: own } of found.hunks) {
    lines.push({ kind: "hunk", text: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@` });
    for (const text of own) lines.push({ kind: kindOf(text), text });
  }
  return { how: lines.length === 0 ? "same" : "between", lines };
}

function kindOf(line: string): PatchLine["kind"] {
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
