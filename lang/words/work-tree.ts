import { countOf, formatBytes } from "./numbers.ts";

/** What git said of the files that it tracks, with the numbers that the API has for it. */
export const TRACKED = { unknown: 0, none: 1, some: 2 } as const;

/** The state of a work tree as `Code` of the API has it. Runs of earlier versions have a patch at most. */
export interface WorkTree {
  dirtyPatch: string;
  /** One of TRACKED. */
  trackedChanges: number;
  /** Neither tracked nor ignored; undefined where that is unknown. */
  untrackedFiles?: number | undefined;
  changedSubmodules?: number | undefined;
  /** Why the patch or a part of it is missing; "" where it is complete. */
  patchLeftOut: string;
  /** 0 where that is unknown. */
  leftOutBytes: number | bigint;
}

/** Only if git said so of everything: unknown is not clean. */
export function isClean(tree: WorkTree): boolean {
  const { trackedChanges, untrackedFiles, changedSubmodules, dirtyPatch } = tree;
  return (
    trackedChanges === TRACKED.none && untrackedFiles === 0 && changedSubmodules === 0 && dirtyPatch === ""
  );
}

/**
 * "clean", "dirty", "dirty, patch left out (2.1 MiB)", "3 untracked files", "1 changed submodule",
 * "unknown: git took longer than 500 ms".
 */
export function describeWorkTree(tree: WorkTree): string {
  if (isClean(tree)) return "clean";
  const { trackedChanges, untrackedFiles, changedSubmodules } = tree;
  const parts: string[] = [];
  const isRecorded =
    trackedChanges !== TRACKED.unknown || untrackedFiles !== undefined || changedSubmodules !== undefined;
  if (trackedChanges === TRACKED.some || tree.dirtyPatch !== "") parts.push(describeDirty(tree));
  else if (trackedChanges !== TRACKED.none) {
    parts.push(`unknown: ${tree.patchLeftOut === "" ? missing(isRecorded) : tree.patchLeftOut}`);
  }
  if (untrackedFiles !== undefined && untrackedFiles > 0)
    parts.push(countOf(untrackedFiles, "untracked file"));
  if (changedSubmodules !== undefined && changedSubmodules > 0)
    parts.push(countOf(changedSubmodules, "changed submodule"));
  // Of what is known, nothing changed.
  if (trackedChanges === TRACKED.none && parts.length === 0) parts.push("no tracked changes");
  if (isRecorded && trackedChanges !== TRACKED.unknown) {
    if (untrackedFiles === undefined) parts.push("untracked files unknown");
    if (changedSubmodules === undefined) parts.push("submodules unknown");
  }
  return parts.join(", ");
}

function describeDirty({ dirtyPatch, patchLeftOut, leftOutBytes }: WorkTree): string {
  if (patchLeftOut === "" && Number(leftOutBytes) === 0) return "dirty";
  const what = dirtyPatch === "" ? "patch" : "a part of the patch";
  const why = Number(leftOutBytes) > 0 ? formatBytes(leftOutBytes) : patchLeftOut;
  return `dirty, ${what} left out (${why})`;
}

function missing(isRecorded: boolean): string {
  return isRecorded ? "tracked changes not recorded" : "state not recorded";
}
