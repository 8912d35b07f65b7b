import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { patchSize } from "../show/provenance-lines.ts";
import { leafWord, paramLeaves, type JsonLeaf } from "../runs/json-node.ts";
import { unifiedDiff } from "./line-diff.ts";
import { packagesOf } from "./packages.ts";

/** One thing that runs may have, with what each has; undefined where a run has none. */
export interface DiffRow {
  key: string;
  values: (string | undefined)[];
  differs: boolean;
}

export interface RunDiff {
  params: DiffRow[];
  code: DiffRow[];
  /** Per run after the first, how its uncommitted changes differ from those of the first. */
  patches: string[][];
  environment: DiffRow[];
  packages: DiffRow[];
  command: DiffRow[];
  tags: DiffRow[];
}

export function compareRuns(runs: readonly Run[]): RunDiff {
  const leaves = runs.map(({ params }) => paramLeaves(params));
  const environments = runs.map(({ provenance }) => packagesOf(provenance?.environment ?? {}));
  const patches = runs.map(({ provenance }) => linesOf(provenance?.code?.dirtyPatch ?? ""));
  const patchDiffs = patches.slice(1).map((patch) => unifiedDiff(patches[0]!, patch));
  return {
    params: compareMaps(leaves, leafWord, sameLeaf),
    code: compareCode(runs, patchDiffs),
    patches: patchDiffs,
    environment: compareMaps(
      environments.map(({ others }) => others),
      (text) => text,
    ),
    packages: compareMaps(
      environments.map(({ packages }) => packages),
      (text) => text,
    ),
    command: compareMaps(
      runs.map(({ provenance }) => new Map([["command", provenance?.command.join(" ") ?? ""]])),
      (text) => text,
    ).filter(hasValue),
    tags: compareMaps(
      runs.map(({ tags }) => new Map(Object.entries(tags))),
      (text) => text,
    ),
  };
}

/** The union of the keys, in their order. */
function compareMaps<V>(
  maps: readonly ReadonlyMap<string, V>[],
  word: (value: V) => string,
  isSame: (a: V, b: V) => boolean = Object.is,
): DiffRow[] {
  const keys = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort();
  return keys.map((key) => {
    const found = maps.map((map) => map.get(key));
    const [first] = found;
    const differs = found.some((value) => {
      if (value === undefined || first === undefined) return value !== first;
      return !isSame(first, value);
    });
    return { key, values: found.map((value) => (value === undefined ? undefined : word(value))), differs };
  });
}

/** 1e-3 and 0.001 are the same to a training job, "1" and 1 are not. */
function sameLeaf(a: JsonLeaf, b: JsonLeaf): boolean {
  if (a.type !== "number" || b.type !== "number") return a.type === b.type && a.source === b.source;
  if (/^-?\d+$/.test(a.source) && /^-?\d+$/.test(b.source)) return BigInt(a.source) === BigInt(b.source);
  return Object.is(Number(a.source), Number(b.source));
}

function compareCode(runs: readonly Run[], patchDiffs: readonly string[][]): DiffRow[] {
  const rows = compareMaps(runs.map(codeOf), (text) => text).filter(hasValue);
  // Two patches of the same size may be different ones.
  for (const row of rows) {
    if (row.key === "uncommitted") row.differs = patchDiffs.some((patch) => patch.length > 0);
  }
  return rows;
}

function codeOf({ provenance }: Run): Map<string, string> {
  const { repository = "", commit = "", branch = "", dirtyPatch = "", archive = "" } = provenance?.code ?? {};
  return new Map([
    ["repository", repository],
    ["commit", commit],
    ["branch", branch],
    ["uncommitted", dirtyPatch === "" ? "" : patchSize(dirtyPatch)],
    ["archive", archive],
  ]);
}

function hasValue({ values }: DiffRow): boolean {
  return values.some((value) => value !== undefined && value !== "");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
