import { leafIdentity, leafWord } from "#lang/json/leaf.ts";
import { paramLeaves } from "#lang/json/leaves.ts";
import { describePatch } from "#lang/words/patch.ts";
import { shellLine } from "#lang/words/shell-line.ts";
import { describeWorkTree } from "#lang/words/work-tree.ts";
import type { Run } from "../types/run.ts";
import { splitEnvironment } from "./packages.ts";
import { compareMaps, compareRow, differs, type ComparedRow, type Value } from "./row.ts";

export type PartName = "params" | "tags" | "code" | "command" | "data" | "packages" | "environment" | "run";

export interface ComparedPart {
  readonly part: PartName;
  readonly rows: readonly ComparedRow[];
}

/**
 * What runs have and where they differ, the baseline first. Parts in which runs differ come first, and empty
 * parts are left out.
 */
export function compareParts(runs: readonly Run[]): ComparedPart[] {
  const environments = runs.map(({ provenance }) => splitEnvironment(provenance?.environment ?? new Map()));
  const parts: ComparedPart[] = [
    { part: "params", rows: compareMaps(runs.map(({ params }) => leavesOf(params))) },
    { part: "tags", rows: compareMaps(runs.map(({ tags }) => textsOf(tags))) },
    { part: "code", rows: fieldRows(runs, CODE) },
    { part: "command", rows: fieldRows(runs, COMMAND) },
    { part: "data", rows: fieldRows(runs, DATA) },
    { part: "packages", rows: compareMaps(environments.map(({ packages }) => textsOf(packages))) },
    { part: "environment", rows: compareMaps(environments.map(({ others }) => textsOf(others))) },
    { part: "run", rows: fieldRows(runs, RUN) },
  ];
  const isDifferent = ({ rows }: ComparedPart) => rows.some(differs);
  const some = parts.filter(({ rows }) => rows.length > 0);
  return [...some.filter(isDifferent), ...some.filter((part) => !isDifferent(part))];
}

type Field = readonly [key: string, read: (run: Run) => string | Value | undefined];

const CODE: readonly Field[] = [
  ["repository", ({ provenance }) => provenance?.code?.repository],
  ["branch", ({ provenance }) => provenance?.code?.branch],
  ["commit", ({ provenance }) => provenance?.code?.commit],
  [
    "uncommitted",
    ({ provenance }) => {
      const patch = provenance?.code?.dirtyPatch ?? "";
      // Two patches of the same size may be different ones.
      return patch === "" ? undefined : { text: describePatch(patch), identity: patch };
    },
  ],
  ["work tree", ({ provenance }) => provenance?.code && describeWorkTree(provenance.code)],
  ["archive", ({ provenance }) => provenance?.code?.archive],
];

const COMMAND: readonly Field[] = [["command", ({ provenance }) => shellLine(provenance?.command ?? [])]];

const DATA: readonly Field[] = [
  ["initial state", ({ provenance }) => provenance?.initialState],
  ["training data", ({ provenance }) => provenance?.trainingData.join("\n")],
  ["test data", ({ provenance }) => provenance?.testData.join("\n")],
  ["feature pipeline", ({ provenance }) => provenance?.featurePipeline],
  ["study", ({ provenance }) => provenance?.study],
];

const RUN: readonly Field[] = [
  ["namespace", ({ namespace }) => namespace],
  ["creator", ({ creator }) => creator],
  ["user", ({ provenance }) => provenance?.user],
  ["logs location", ({ provenance }) => provenance?.logsLocation],
  ["notes", ({ notes }) => notes],
];

function fieldRows(runs: readonly Run[], fields: readonly Field[]): ComparedRow[] {
  return fields
    .map(([key, read]) =>
      compareRow(
        key,
        runs.map((run) => {
          const value = read(run);
          if (value === undefined || value === "") return undefined;
          return typeof value === "string" ? { text: value, identity: value } : value;
        }),
      ),
    )
    .filter(({ texts }) => texts.length > 0);
}

function leavesOf(params: ReadonlyMap<string, string>): Map<string, Value> {
  const leaves = paramLeaves(params);
  return new Map(
    Array.from(leaves, ([path, leaf]) => [path, { text: leafWord(leaf), identity: leafIdentity(leaf) }]),
  );
}

function textsOf(entries: Iterable<readonly [string, string]>): Map<string, Value> {
  return new Map(Array.from(entries, ([key, text]) => [key, { text, identity: text }]));
}
