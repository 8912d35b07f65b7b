/**
 * The state of the git repository of the code that runs. A repository may be untrusted, and its configuration can
 * name programs: hooks, filters, external diffs, file system monitors. None of them is run. Filters have arbitrary
 * names, so the configuration is read first (reading it runs nothing) and each filter is switched off by
 * name; if one cannot be switched off, the patch is left out.
 */
import { realpath, stat } from "node:fs/promises";
import { join, relative, isAbsolute } from "node:path";
import { redactPatch } from "./patch.ts";
import { runProgram, type Outcome } from "./run-program.ts";
import { secretPathspecs } from "./secrets/secret-files.ts";
import { redactUrl } from "./secrets/secrets.ts";

export interface GitState {
  repository: string;
  /** Empty before the first commit. */
  commit: string;
  /** Empty when no branch is checked out. */
  branch: string;
  /** Empty when nothing tracked has changed, and when it is left out. */
  dirtyPatch: string;
  /** The top of the work tree. */
  root: string;
  /** What is left out, and why, one sentence each. */
  notes: string[];
}

export interface GitOptions {
  /** For all calls together. */
  timeoutMs: number;
  withPatch?: boolean;
  env?: NodeJS.ProcessEnv;
}

type Answer = { git: GitState } | { cause: string };

const PATCH_BYTES_MAX = 1 << 20;
const ANSWER_BYTES_MAX = 1 << 20;
const FILTERS_MAX = 100;

/** Overrides the configuration of a repository, for every call. */
const SAFE: readonly string[] = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "diff.external=",
  "diff.orderFile=/dev/null",
  "submodule.recurse=false",
  "protocol.allow=never",
  "safe.bareRepository=explicit",
  "core.quotePath=true",
].flatMap((setting) => ["-c", setting]);

const DIFF_OPTIONS: readonly string[] = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-renames",
  "--ignore-submodules=dirty",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--full-index",
  "--binary",
  "--unified=3",
  "--inter-hunk-context=0",
  "--diff-algorithm=myers",
];

/** The state of the work tree that `dir` is in. Never throws; `cause` says why there is no answer. */
export async function readGit(dir: string, options: GitOptions): Promise<Answer> {
  const deadlineMs = performance.now() + options.timeoutMs;
  const env = safeEnvironment(options.env ?? process.env);
  const git = (cwd: string, args: readonly string[], bytesMax = ANSWER_BYTES_MAX): Promise<Outcome> =>
    runProgram("git", ["--no-pager", ...SAFE, ...args], {
      cwd,
      env,
      timeoutMs: Math.max(1, Math.ceil(deadlineMs - performance.now())),
      outputBytesMax: bytesMax,
      keepsAlive: true,
    });
  const [top, config, head, branch] = await Promise.all([
    git(dir, ["rev-parse", "--show-toplevel"]),
    git(dir, ["config", "--list", "--null"]),
    git(dir, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
    git(dir, ["symbolic-ref", "--quiet", "--short", "HEAD"]),
  ]);
  if (!top.ok) return { cause: top.cause };
  const root = lineOf(top);
  if (!(await isWorkTree(root, dir))) {
    return { cause: "the repository configures a work tree somewhere else" };
  }
  if (!config.ok) return { cause: `its configuration cannot be read: ${config.cause}` };
  const late = [head, branch].find((outcome) => !outcome.ok && outcome.why === "late");
  if (late?.ok === false) return { cause: late.cause };
  const settings = parseConfig(config.stdout.toString());
  const state: GitState = {
    repository: remoteOf(settings, lineOf(branch)),
    commit: lineOf(head),
    branch: lineOf(branch),
    dirtyPatch: "",
    root,
    notes: [],
  };
  if (options.withPatch ?? true) {
    const patch = await readPatch(state, settings, (args) => git(root, args, PATCH_BYTES_MAX));
    state.dirtyPatch = patch.text;
    state.notes.push(...patch.notes);
  }
  return { git: state };
}

async function readPatch(
  { commit }: GitState,
  settings: Settings,
  git: (args: readonly string[]) => Promise<Outcome>,
): Promise<{ text: string; notes: string[] }> {
  const filters = filtersOff(settings);
  if (filters === undefined) {
    return {
      text: "",
      notes: ["the patch is left out: the repository has filters that cannot be switched off"],
    };
  }
  let base = commit;
  if (base === "") {
    // Before the first commit all that is tracked is new; the name of the empty tree depends on the repository.
    const empty = await git(["hash-object", "-t", "tree", "/dev/null"]);
    if (!empty.ok) return { text: "", notes: [`the patch is left out: ${empty.cause}`] };
    base = lineOf(empty);
  }
  const outcome = await git([
    ...filters,
    "diff",
    ...DIFF_OPTIONS,
    base,
    "--",
    ":(top)",
    ...secretPathspecs(),
  ]);
  if (!outcome.ok) {
    const cause = outcome.why === "large" ? `it has more than ${PATCH_BYTES_MAX} bytes` : outcome.cause;
    return { text: "", notes: [`the patch is left out: ${cause}`] };
  }
  const notes: string[] = [];
  const bytes = outcome.stdout;
  const text = bytes.toString("utf8");
  if (Buffer.byteLength(text) !== bytes.length || !Buffer.from(text).equals(bytes)) {
    notes.push("the patch has bytes that are not UTF-8; they are replaced, and those lines do not apply");
  }
  const clean = redactPatch(text);
  if (clean.isChanged) notes.push("the patch has credentials in it; they are redacted");
  return { text: clean.text, notes };
}

/** undefined when a filter has a name that cannot be given on a command line. */
function filtersOff(settings: Settings): string[] | undefined {
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

type Settings = readonly { key: string; value: string }[];

/** Entries end with a zero byte; a line feed parts key and value. */
function parseConfig(text: string): Settings {
  return text
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const at = entry.indexOf("\n");
      return at === -1 ? { key: entry, value: "" } : { key: entry.slice(0, at), value: entry.slice(at + 1) };
    });
}

/** Where the branch comes from, else `origin`, else the first one, without credentials. */
function remoteOf(settings: Settings, branch: string): string {
  const find = (key: string) => settings.findLast((setting) => setting.key === key)?.value;
  const names = [find(`branch.${branch}.remote`), "origin"].filter((name) => name !== undefined);
  const url =
    names.map((name) => find(`remote.${name}.url`)).find((value) => value !== undefined) ??
    settings.find(({ key }) => /^remote\..*\.url$/s.test(key))?.value ??
    "";
  return redactUrl(url);
}

/**
 * A repository can name any folder as its work tree, such as `/`, and then the changes of "tracked" files there would be
 * the content of files of this machine. So the folder must have the repository in it, and `dir` must be in the folder.
 */
async function isWorkTree(root: string, dir: string): Promise<boolean> {
  try {
    await stat(join(root, ".git"));
    const way = relative(await realpath(root), await realpath(dir));
    return !isAbsolute(way) && way !== ".." && !way.startsWith("../");
  } catch {
    return false;
  }
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
function lineOf(outcome: Outcome): string {
  return outcome.ok ? outcome.stdout.toString().replace(/\n$/, "") : "";
}
