import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { compareMaps, compareValues, differs, type CompareRow } from "./compare-row.ts";
import { splitEnvironment } from "./packages.ts";
import { paramLeaves, type Value } from "./param-leaves.ts";
import { describePatch } from "./patch-lines.ts";

export interface Section {
  /** As in the address. */
  id: "params" | "tags" | "code" | "command" | "data" | "environment" | "packages" | "run";
  title: string;
  rows: CompareRow[];
}

/** What runs have and where they differ, the baseline first. Parts in which runs differ come first, and those that no run has anything of not at all. */
export function compareRuns(runs: readonly Run[]): Section[] {
  const environments = runs.map(({ provenance }) => splitEnvironment(provenance?.environment ?? {}));
  const sections: Section[] = [
    { id: "params", title: "Params", rows: compareMaps(runs.map(({ params }) => paramLeaves(params))) },
    { id: "tags", title: "Tags", rows: compareMaps(runs.map(({ tags }) => textsOf(Object.entries(tags)))) },
    { id: "code", title: "Code", rows: fieldRows(runs, CODE) },
    { id: "command", title: "Command", rows: fieldRows(runs, COMMAND) },
    { id: "data", title: "Data", rows: fieldRows(runs, DATA) },
    {
      id: "packages",
      title: "Packages",
      rows: compareMaps(environments.map(({ packages }) => textsOf(packages))),
    },
    {
      id: "environment",
      title: "Environment",
      rows: compareMaps(environments.map(({ others }) => textsOf(others))),
    },
    { id: "run", title: "Run", rows: fieldRows(runs, RUN) },
  ];
  const [different, equal] = [
    sections.filter(({ rows }) => rows.some(differs)),
    sections.filter(({ rows }) => rows.length > 0 && !rows.some(differs)),
  ];
  return [...different, ...equal];
}

/** Where to find the uncommitted changes among the rows. */
export const PATCH_KEY = "uncommitted";

type Field = [key: string, read: (run: Run) => string | Value | undefined];

const CODE: readonly Field[] = [
  ["repository", ({ provenance }) => provenance?.code?.repository],
  ["branch", ({ provenance }) => provenance?.code?.branch],
  ["commit", ({ provenance }) => provenance?.code?.commit],
  [
    PATCH_KEY,
    ({ provenance }) => {
      const patch = provenance?.code?.dirtyPatch ?? "";
      // Two patches of the same size may be different ones.
      return patch === "" ? undefined : { text: describePatch(patch), identity: patch };
    },
  ],
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
  ["notes", ({ notes }) => notes],
];

function fieldRows(runs: readonly Run[], fields: readonly Field[]): CompareRow[] {
  return fields
    .map(([key, read]) =>
      compareValues(
        key,
        runs.map((run) => {
          const value = read(run);
          if (value === undefined || value === "") return undefined;
          return typeof value === "string" ? { text: value, identity: value } : value;
        }),
      ),
    )
    .filter(({ values }) => values.some((value) => value !== undefined));
}

function textsOf(entries: Iterable<[string, string]>): Map<string, Value> {
  return new Map([...entries].map(([key, text]) => [key, { text, identity: text }]));
}

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** As it would be typed, so that an argument with a space is seen as one. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}
