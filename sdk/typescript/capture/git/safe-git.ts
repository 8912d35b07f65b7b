/**
 * How git is called. A repository may be untrusted, and its configuration can name programs: hooks, filters, external
 * diffs, file system monitors. None of them is run. Filters have arbitrary names, so the configuration is read first
 * (reading it runs nothing) and each filter is switched off by name; where one cannot be switched off, nothing that
 * reads files of the work tree is called.
 */
import { runProgram, type Outcome } from "../run-program.ts";

/** One call of git in a folder. What `onPiece` gets is neither kept nor limited. */
export type Git = (
  cwd: string,
  args: readonly string[],
  more?: { bytesMax?: number; onPiece?: (piece: Buffer) => void },
) => Promise<Outcome>;

const ANSWER_BYTES_MAX = 1 << 20;
const FILTERS_MAX = 100;

/** Overrides the configuration of a repository, for every call. */
const SAFE: readonly string[] = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "diff.external=",
  "diff.orderFile=/dev/null",
  "status.submoduleSummary=false",
  "submodule.recurse=false",
  "protocol.allow=never",
  "safe.bareRepository=explicit",
  "core.quotePath=true",
].flatMap((setting) => ["-c", setting]);

/** All calls together have until the deadline. */
export function safeGit(deadlineMs: number, env: NodeJS.ProcessEnv): Git {
  const safeEnv = safeEnvironment(env);
  return (cwd, args, { bytesMax = ANSWER_BYTES_MAX, onPiece } = {}) =>
    runProgram("git", ["--no-pager", ...SAFE, ...args], {
      cwd,
      env: safeEnv,
      timeoutMs: Math.max(1, Math.ceil(deadlineMs - performance.now())),
      outputBytesMax: bytesMax,
      keepsAlive: true,
      ...(onPiece !== undefined && { onPiece }),
    });
}

export type Settings = readonly { key: string; value: string }[];

/** Output of `git config --list --null`: entries end with a zero byte; a line feed parts key and value. */
export function parseSettings(text: string): Settings {
  return text
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const at = entry.indexOf("\n");
      return at === -1 ? { key: entry, value: "" } : { key: entry.slice(0, at), value: entry.slice(at + 1) };
    });
}

/** Options that switch all filters off; undefined when one has a name that cannot be given on a command line. */
export function filtersOff(settings: Settings): string[] | undefined {
  const names = new Set<string>();
  for (const { key } of settings) {
    const name = /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1];
    if (name !== undefined) names.add(name);
  }
  if (names.size > FILTERS_MAX || [...names].some((name) => name.includes("="))) return undefined;
  return [...names].flatMap((name) =>
    ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => [
      "-c",
      `filter.${name}.${setting}`,
    ]),
  );
}

/** Git's own variables could point it elsewhere or name programs; and it must neither ask nor write. */
function safeEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(?:GIT_|SSH_ASKPASS$|LC_|LANGUAGE$|PAGER$)/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "",
    GIT_ATTR_NOSYSTEM: "1",
  };
}

/** Without the line feed that ends it: a path may have others. Empty when it failed. */
export function lineOf(outcome: Outcome): string {
  return outcome.ok ? outcome.stdout.toString().replace(/\n$/, "") : "";
}

/** Records that end with a zero byte, of output that comes in pieces. */
export class Records {
  #rest = "";
  readonly #take: (record: string) => void;

  constructor(take: (record: string) => void) {
    this.#take = take;
  }

  /** Paths are compared and counted only, so that bytes which are not UTF-8 need not be kept. */
  readonly add = (piece: Buffer): void => {
    const records = (this.#rest + piece.toString("latin1")).split("\0");
    this.#rest = records.pop()!;
    for (const record of records) this.#take(record);
  };
}
