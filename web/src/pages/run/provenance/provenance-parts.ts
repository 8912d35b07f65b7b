import { splitDataReference, type DataReference } from "#lang/data-reference.ts";
import { quoteText } from "#lang/query/quote.ts";
import { countOf } from "#lang/words/numbers.ts";
import { describePatch } from "#lang/words/patch.ts";
import { shellLine, shellWord } from "#lang/words/shell-line.ts";
import { describeWorkTree } from "#lang/words/work-tree.ts";
import type { Code, Run } from "#proto/cairn/v1/run_pb.ts";

/** A recorded value. */
export interface ProvenanceValue {
  text: string;
  /** Of data: after the location, set apart. */
  version?: string;
  /** The location, where a browser can open it. */
  href?: string;
  /** Finds the runs that have the same value. */
  query?: string;
}

/** One thing that is required to run it again. */
export interface ProvenancePart {
  name: string;
  /** Empty when it is not recorded. */
  values: readonly ProvenanceValue[];
  /** What is lost without it, or how to record it. */
  missing: string;
}

/** What is recorded and what is missing, in the order in which it is needed. */
export function provenanceParts({ provenance, params }: Run): ProvenancePart[] {
  const code = provenance?.code;
  const seeds = Object.keys(params).filter((key) => /(^|[._/-])seed$/i.test(key));
  return [
    part("Repository", "the code cannot be fetched", [code?.repository], "repository"),
    part("Commit", "the version of the code is unknown", [code?.commit], "commit"),
    part("Branch", "only a name; the commit is enough", [code?.branch], "branch"),
    workTreePart(code),
    ...codeNote(provenance?.environment[CODE_NOTE]),
    part("Archive of the code", "only needed where there is no commit", [code?.archive]),
    part("Command", "how it was started is unknown", [shellLine(provenance?.command ?? [])]),
    part("Hyper-parameters", "log them as params", [someOf(params, "param")]),
    part(
      "Random seed",
      "log it as a param named seed",
      seeds.map((key) => `${key} = ${params[key]}`),
    ),
    dataPart("Training data", "what it was trained on is unknown", provenance?.trainingData, "training_data"),
    dataPart("Test data", "what it was tested on is unknown", provenance?.testData, "test_data"),
    dataPart(
      "Feature pipeline",
      "none, or it was not recorded",
      [provenance?.featurePipeline],
      "feature_pipeline",
    ),
    dataPart(
      "Initial state",
      "began from scratch, or it was not recorded",
      [provenance?.initialState],
      "initial_state",
    ),
    part("Environment", "machine and packages are unknown", [
      someOf(provenance?.environment ?? {}, "entry", "entries"),
    ]),
    part("Study", "no job id", [provenance?.study], "study"),
    part("Logs", "only those on this server", [provenance?.logsLocation], "logs_location"),
  ];
}

/** Who made the run and who changed it. What is only sometimes there is left out when it is unknown. */
export function peopleOf(run: Run): ProvenancePart[] {
  const { provenance, creator, endedBy, changedBy, deletedBy } = run;
  const sometimes = [
    part("Ended by", "", [endedBy]),
    part("Changed by", "", [changedBy]),
    part("Deleted by", "", [deletedBy]),
  ];
  return [
    part("Created by", "not recorded", [creator], "creator"),
    part("User", "the client did not say", [provenance?.user], "user"),
    part("Host", "the client did not say", [provenance?.environment["host"]], "host"),
    ...sometimes.filter(({ values }) => values.length > 0),
  ];
}

function part(
  name: string,
  missing: string,
  values: readonly (string | undefined)[],
  field?: string,
): ProvenancePart {
  return {
    name,
    missing,
    values: recorded(values).map((text) => valueOf(text, { location: text, version: "" }, field)),
  };
}

/** References to data have a version or digest after the location. */
function dataPart(
  name: string,
  missing: string,
  values: readonly (string | undefined)[] = [],
  field: string,
): ProvenancePart {
  return {
    name,
    missing,
    values: recorded(values).map((text) => valueOf(text, splitDataReference(text), field)),
  };
}

function valueOf(
  text: string,
  { location, version }: DataReference,
  field: string | undefined,
): ProvenanceValue {
  return {
    text: location,
    ...(version !== "" && { version }),
    ...(/^https?:\/\/[^\s]+$/i.test(location) && { href: location }),
    ...(field !== undefined && { query: `${field} = ${quoteText(text)}` }),
  };
}

/** Of the server: why code is not what a process ran. */
const CODE_NOTE = "note:code";

function codeNote(text: string | undefined): ProvenancePart[] {
  return text === undefined ? [] : [part("Note on the code", "", [text])];
}

/** Unknown is not clean: only what git said is a value. */
function workTreePart(code: Code | undefined): ProvenancePart {
  const name = "Work tree";
  if (code === undefined) return { name, values: [], missing: "unknown" };
  const text = describeWorkTree(code);
  if (text.startsWith("unknown")) return { name, values: [], missing: text };
  const patch = code.dirtyPatch === "" ? [] : [{ text: describePatch(code.dirtyPatch) }];
  return { name, values: [{ text }, ...patch], missing: "" };
}

function recorded(values: readonly (string | undefined)[]): string[] {
  return values.filter((value): value is string => value !== undefined && value !== "");
}

function someOf(entries: Readonly<Record<string, string>>, one: string, many?: string): string {
  const count = Object.keys(entries).length;
  return count === 0 ? "" : countOf(count, one, many);
}

export const PATCH_FILE = "uncommitted.patch";

/** The commands to run it again; undefined when the command is unknown. */
export function reproduction({ provenance }: Run): string | undefined {
  if (provenance === undefined || provenance.command.length === 0) return undefined;
  const { code, command } = provenance;
  const lines: string[] = [];
  const folder =
    code?.repository
      .replace(/\/+$/, "")
      .split(/[/:]/)
      .at(-1)
      ?.replace(/\.git$/, "") ?? "";
  if (code !== undefined && code.repository !== "" && /^[\w.-]+$/.test(folder) && !folder.startsWith("-")) {
    lines.push(`git clone -- ${shellWord(code.repository)} ${folder} && cd ${folder}`);
  }
  // An invalid commit could be parsed as an option.
  if (code !== undefined && /^[0-9a-f]{7,64}$/i.test(code.commit))
    lines.push(`git checkout --detach ${code.commit}`);
  if (code !== undefined && code.dirtyPatch !== "") lines.push(`git apply ${PATCH_FILE}`);
  return [...lines, shellLine(command)].join("\n");
}

/** What the commands do not bring back, in a sentence; "" when they bring back everything. */
export function reproductionGap({ provenance }: Run): string {
  const code = provenance?.code;
  if (code === undefined) return "";
  const parts = [
    (code.patchLeftOut !== "" || code.leftOutBytes > 0n) && "uncommitted changes that were left out",
    (code.untrackedFiles ?? 0) > 0 && code.archive === "" && countOf(code.untrackedFiles!, "untracked file"),
    (code.changedSubmodules ?? 0) > 0 && countOf(code.changedSubmodules!, "changed submodule"),
  ].filter((each) => each !== false);
  return parts.length === 0 ? "" : `Not included: ${parts.join(", ")}.`;
}
