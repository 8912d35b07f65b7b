import { structuredPatch } from "diff/lib/patch/create.js";
import { limits } from "#lang/limits.ts";

/** How the uncommitted changes of a run differ from those of the baseline. */
export interface PatchDifference {
  /** "own": the baseline has none, so these are the run's. "missing": the run has none, so these are the baseline's. */
  readonly how: "same" | "own" | "missing" | "between" | "too-different";
  /** As `diff -u` prints them. */
  readonly lines: readonly string[];
  /** Lines that were left out at the end. */
  readonly moreLines: number;
}

/** The work grows with the square of the edits; two patches that need more have hardly anything in common. */
const EDITS_MAX = 1_000;
const TIME_MS_MAX = 200;
const CONTEXT_LINES = 3;

/** Where both have some, the two patches are compared line by line. */
export function comparePatches(base: string, other: string): PatchDifference {
  if (base === other) return { how: "same", lines: [], moreLines: 0 };
  if (base === "") return cut("own", linesOf(other));
  if (other === "") return cut("missing", linesOf(base));
  const found = structuredPatch("", "", `${base.trimEnd()}\n`, `${other.trimEnd()}\n`, "", "", {
    context: CONTEXT_LINES,
    maxEditLength: EDITS_MAX,
    timeout: TIME_MS_MAX,
  });
  if (found === undefined) return { how: "too-different", lines: [], moreLines: 0 };
  const lines = found.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: own }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`].concat(own),
  );
  return cut(lines.length === 0 ? "same" : "between", lines);
}

function cut(how: PatchDifference["how"], lines: readonly string[]): PatchDifference {
  const shown = lines.slice(0, limits.comparedPatchLinesMax);
  return { how, lines: shown, moreLines: lines.length - shown.length };
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
