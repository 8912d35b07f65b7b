import { countOf } from "#lang/words/numbers.ts";
import { shellLine, shellWord } from "#lang/words/shell-line.ts";
import { describePatch } from "#lang/words/patch.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";

/** One thing that is required to run it again. */
export interface ProvenancePart {
  name: string;
  /** Empty when it is not recorded. */
  values: readonly string[];
  /** What is lost without it, or how to record it. */
  missing: string;
}

/** What is recorded and what is missing, in the order in which it is needed. */
export function provenanceParts({ provenance, params }: Run): ProvenancePart[] {
  const code = provenance?.code;
  const part = (name: string, missing: string, values: readonly (string | undefined)[]): ProvenancePart => ({
    name,
    missing,
    values: values.filter((value): value is string => value !== undefined && value !== ""),
  });
  const seeds = Object.keys(params).filter((key) => /(^|[._/-])seed$/i.test(key));
  return [
    part("Repository", "the code cannot be fetched", [code?.repository]),
    part("Commit", "the version of the code is unknown", [code?.commit]),
    part("Branch", "only a name; the commit is enough", [code?.branch]),
    part("Uncommitted changes", code?.commit ? "none: the commit was clean" : "unknown", [
      code?.dirtyPatch === undefined || code.dirtyPatch === "" ? "" : describePatch(code.dirtyPatch),
    ]),
    part("Archive of the code", "only needed where there is no commit", [code?.archive]),
    part("Command", "how it was started is unknown", [shellLine(provenance?.command ?? [])]),
    part("Hyper-parameters", "log them as params", [someOf(params, "param")]),
    part(
      "Random seed",
      "log it as a param named seed",
      seeds.map((key) => `${key} = ${params[key]}`),
    ),
    part("Training data", "what it was trained on is unknown", provenance?.trainingData ?? []),
    part("Test data", "what it was tested on is unknown", provenance?.testData ?? []),
    part("Feature pipeline", "none, or it was not recorded", [provenance?.featurePipeline]),
    part("Initial state", "began from scratch, or it was not recorded", [provenance?.initialState]),
    part("Environment", "machine and packages are unknown", [
      someOf(provenance?.environment ?? {}, "entry", "entries"),
    ]),
    part("Study", "no job id", [provenance?.study]),
  ];
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
