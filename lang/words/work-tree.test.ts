import fc from "fast-check";
import { expect, it } from "vitest";
import { describeWorkTree, isClean, TRACKED, type WorkTree } from "./work-tree.ts";

const UNKNOWN: WorkTree = {
  dirtyPatch: "",
  trackedChanges: TRACKED.unknown,
  patchLeftOut: "",
  leftOutBytes: 0,
};
const CLEAN: WorkTree = {
  ...UNKNOWN,
  trackedChanges: TRACKED.none,
  untrackedFiles: 0,
  changedSubmodules: 0,
};
const DIRTY: WorkTree = { ...CLEAN, trackedChanges: TRACKED.some };

it.each<[string, WorkTree]>([
  ["clean", CLEAN],
  ["dirty", { ...DIRTY, dirtyPatch: "+1" }],
  ["dirty, patch left out (2.1 MiB)", { ...DIRTY, patchLeftOut: "too large", leftOutBytes: 2_200_000n }],
  ["dirty, patch left out (git failed)", { ...DIRTY, patchLeftOut: "git failed" }],
  [
    "dirty, a part of the patch left out (12 B)",
    { ...DIRTY, dirtyPatch: "+1", patchLeftOut: "s", leftOutBytes: 12 },
  ],
  ["3 untracked files", { ...CLEAN, untrackedFiles: 3 }],
  ["1 changed submodule", { ...CLEAN, changedSubmodules: 1 }],
  [
    "dirty, 1 untracked file, 2 changed submodules",
    { ...DIRTY, dirtyPatch: "+", untrackedFiles: 1, changedSubmodules: 2 },
  ],
  ["unknown: git took longer than 500 ms", { ...UNKNOWN, patchLeftOut: "git took longer than 500 ms" }],
  ["unknown: tracked changes not recorded, 3 untracked files", { ...UNKNOWN, untrackedFiles: 3 }],
  ["no tracked changes, untracked files unknown", { ...CLEAN, untrackedFiles: undefined }],
  ["3 untracked files, submodules unknown", { ...CLEAN, untrackedFiles: 3, changedSubmodules: undefined }],
  // Of an earlier version.
  ["dirty", { ...UNKNOWN, dirtyPatch: "+1" }],
  ["unknown: state not recorded", UNKNOWN],
])("U201 says %s", (words, tree) => expect(describeWorkTree(tree)).toBe(words));

it("U201 says clean only where git said so of everything", () => {
  const count = fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined });
  const trees = fc.record({
    dirtyPatch: fc.constantFrom("", "+1"),
    trackedChanges: fc.constantFrom(0, 1, 2),
    untrackedFiles: count,
    changedSubmodules: count,
    patchLeftOut: fc.constantFrom("", "too large"),
    leftOutBytes: fc.constantFrom(0, 5),
  });
  fc.assert(
    fc.property(trees, (tree) => {
      const saidOfAll =
        tree.trackedChanges === 1 && tree.untrackedFiles === 0 && tree.changedSubmodules === 0;
      expect(isClean(tree)).toBe(saidOfAll && tree.dirtyPatch === "");
      const words = describeWorkTree(tree);
      expect(words === "clean").toBe(isClean(tree));
      expect(words).not.toBe("");
    }),
  );
});
