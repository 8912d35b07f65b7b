/**
 * The state of the git repository of the code that runs: what git said, and what it did not say. Unknown is never
 * reported as clean. See git/safe-git.ts for how a repository that is not trusted is read.
 */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { TRACKED } from "#lang/words/work-tree.ts";
import { countOf } from "#lang/words/numbers.ts";
import { readPatch, type Patch } from "./git/read-patch.ts";
import { filtersOff, lineOf, parseSettings, safeGit, type Git, type Settings } from "./git/safe-git.ts";
import {
  countUntracked,
  readSubmodules,
  readTracked,
  type Said,
  type TrackedState,
} from "./git/work-tree.ts";
import { redactUrl } from "./secrets/secrets.ts";

export interface GitState {
  repository: string;
  /** Empty before the first commit. */
  commit: string;
  /** Empty when no branch is checked out. */
  branch: string;
  /** Empty when nothing tracked has changed, and when it is left out. */
  dirtyPatch: string;
  /** One of TRACKED. */
  trackedChanges: number;
  /** Undefined where they are unknown. */
  untrackedFiles: number | undefined;
  changedSubmodules: number | undefined;
  /** Why the patch or a part of it is missing; empty when it has all tracked changes. */
  patchLeftOut: string;
  /** How large the missing patch is; 0 where that is unknown. */
  leftOutBytes: number;
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

/** The state of the work tree that `dir` is in. Never throws; `cause` says why there is no answer. */
export async function readGit(dir: string, options: GitOptions): Promise<Answer> {
  const git = safeGit(performance.now() + options.timeoutMs, options.env ?? process.env);
  const { timeoutMs } = options;
  const tooSlow = `git took longer than ${timeoutMs < 1_000 ? `${timeoutMs} ms` : `${timeoutMs / 1_000} s`}`;
  const [top, config, head, branch] = await Promise.all([
    git(dir, ["rev-parse", "--show-toplevel"]),
    git(dir, ["config", "--list", "--null"]),
    git(dir, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
    git(dir, ["symbolic-ref", "--quiet", "--short", "HEAD"]),
  ]);
  if ([top, config, head, branch].some((one) => !one.ok && one.why === "late")) return { cause: tooSlow };
  if (!top.ok) return { cause: top.cause };
  const root = lineOf(top);
  if (!(await isWorkTree(root, dir))) {
    return { cause: "the repository configures a work tree somewhere else" };
  }
  if (!config.ok) return { cause: `its configuration cannot be read: ${config.cause}` };
  const settings = parseSettings(config.stdout.toString());
  const commit = lineOf(head);
  const tree = await readTree(git, root, { commit, settings, tooSlow, withPatch: options.withPatch ?? true });
  return {
    git: { repository: remoteOf(settings, lineOf(branch)), commit, branch: lineOf(branch), root, ...tree },
  };
}

type TreeState = Omit<GitState, "repository" | "commit" | "branch" | "root">;

async function readTree(
  git: Git,
  root: string,
  given: { commit: string; settings: Settings; tooSlow: string; withPatch: boolean },
): Promise<TreeState> {
  const { commit, settings, tooSlow, withPatch } = given;
  const filters = filtersOff(settings);
  const untracked = countUntracked(git, root);
  if (filters === undefined) {
    const patchLeftOut = "the repository has filters that cannot be switched off";
    const notes = [`the patch is left out: ${patchLeftOut}`];
    const untrackedFiles = known(await untracked, "untracked files are not counted", notes, tooSlow);
    return { ...UNKNOWN_TREE, untrackedFiles, patchLeftOut, notes };
  }
  const [tracked, others, submodules, patch] = await Promise.all([
    readTracked(git, root, filters),
    untracked,
    readSubmodules(git, root),
    withPatch ? readPatch(git, root, { commit, filters }) : undefined,
  ]);
  const notes = [...(patch?.notes ?? [])];
  const state = trackedState(tracked, patch, tooSlow);
  if (state.patchLeftOut !== "" && withPatch) {
    const what = state.dirtyPatch === "" ? "the patch" : "a part of the patch";
    notes.push(`${what} is left out: ${state.patchLeftOut}`);
  }
  const untrackedFiles = known(others, "untracked files are not counted", notes, tooSlow);
  const inside = known(submodules, "submodules are not looked into", notes, tooSlow);
  const moved = "value" in tracked ? tracked.value.submodules : undefined;
  const changedSubmodules = inside && moved && new Set([...inside, ...moved]).size;
  return { ...state, untrackedFiles, changedSubmodules, notes };
}

const UNKNOWN_TREE: Omit<TreeState, "notes"> = {
  dirtyPatch: "",
  trackedChanges: TRACKED.unknown,
  untrackedFiles: undefined,
  changedSubmodules: undefined,
  patchLeftOut: "",
  leftOutBytes: 0,
};

/** What is known of tracked files: from the patch, too, where git was too slow to say more. */
function trackedState(tracked: Said<TrackedState>, patch: Patch | undefined, tooSlow: string) {
  const dirtyPatch = patch?.text ?? "";
  const leftOutBytes = patch?.leftOut?.sizeBytes ?? 0;
  const isLarge = patch?.leftOut?.why === "large";
  if ("cause" in tracked) {
    const trackedChanges = dirtyPatch !== "" || isLarge ? TRACKED.some : TRACKED.unknown;
    const cause = tracked.isLate ? tooSlow : tracked.cause;
    // Whether files that hold secrets have changed remains unknown.
    const patchLeftOut = patch?.leftOut === undefined ? cause : patchCause(patch, tooSlow);
    return { dirtyPatch, trackedChanges, patchLeftOut, leftOutBytes };
  }
  const { isChanged, secretFiles } = tracked.value;
  if (!isChanged && dirtyPatch === "" && !isLarge) {
    return { dirtyPatch, trackedChanges: TRACKED.none, patchLeftOut: "", leftOutBytes: 0 };
  }
  const missing = secretFiles === 0 ? "" : `${countOf(secretFiles, "file")} that may hold secrets`;
  const patchLeftOut =
    patch === undefined
      ? "it was switched off"
      : patch.leftOut === undefined
        ? missing
        : patchCause(patch, tooSlow);
  return { dirtyPatch, trackedChanges: TRACKED.some, patchLeftOut, leftOutBytes };
}

function patchCause({ leftOut }: Patch, tooSlow: string): string {
  return leftOut?.why === "late" ? tooSlow : (leftOut?.cause ?? tooSlow);
}

function known<T>(said: Said<T>, what: string, notes: string[], tooSlow: string): T | undefined {
  if ("value" in said) return said.value;
  notes.push(`${what}: ${said.isLate ? tooSlow : said.cause}`);
  return undefined;
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
