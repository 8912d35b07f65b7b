/**
 * What git says of a work tree besides its patch: whether tracked files have changed, how many files are untracked, and
 * how many submodules have changed. Each may be unknown, and then says why; none is guessed.
 */
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Outcome } from "../run-program.ts";
import { isSecretPath } from "../secrets/secret-files.ts";
import { filtersOff, lineOf, parseSettings, Records, type Git } from "./safe-git.ts";

/** Something that git said, or why it said nothing. */
export type Said<T> = { value: T } | { cause: string; isLate: boolean };

export interface TrackedState {
  isChanged: boolean;
  /** Changed files that a patch does not have because they may hold secrets. */
  secretFiles: number;
  /** Submodules at another commit, new ones and removed ones, by path. */
  submodules: ReadonlySet<string>;
}

const SUBMODULES_MAX = 100;
const DEPTH_MAX = 5;

const STATUS = ["status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=dirty"];
/** How many fields are before the path, by the kind of a line. */
const FIELDS: Readonly<Record<string, number>> = { "1": 8, u: 10 };

/** Staged or not. Does not look into submodules: their own configuration would apply there. */
export async function readTracked(
  git: Git,
  root: string,
  filters: readonly string[],
): Promise<Said<TrackedState>> {
  const submodules = new Set<string>();
  let isChanged = false;
  let secretFiles = 0;
  const records = new Records((record) => {
    isChanged = true;
    const path = record
      .split(" ")
      .slice(FIELDS[record[0]!] ?? 8)
      .join(" ");
    if (record.split(" ")[2]?.startsWith("S")) submodules.add(path);
    else if (isSecretPath(path)) secretFiles++;
  });
  const outcome = await git(root, [...filters, ...STATUS, "--untracked-files=no"], { onPiece: records.add });
  return outcome.ok ? { value: { isChanged, secretFiles, submodules } } : silence(outcome);
}

/** Files that are neither tracked nor ignored; a repository among them counts as one. */
export async function countUntracked(git: Git, root: string): Promise<Said<number>> {
  let count = 0;
  const records = new Records(() => count++);
  const args = ["ls-files", "--others", "--exclude-standard", "-z"];
  const outcome = await git(root, args, { onPiece: records.add });
  return outcome.ok ? { value: count } : silence(outcome);
}

/**
 * Submodules with changes of their own, also untracked files, by path. Each is asked by itself, with its own filters
 * off: git would run them when it looked into a submodule from outside.
 */
export async function readSubmodules(git: Git, root: string): Promise<Said<ReadonlySet<string>>> {
  const changed = new Set<string>();
  const left = { count: SUBMODULES_MAX };
  try {
    await eachSubmodule(git, root, left, async (path, dir) => {
      if (await hasChanges(git, dir, left, 1)) changed.add(path);
    });
    return { value: changed };
  } catch (thrown) {
    if (thrown instanceof Silence) return { cause: thrown.message, isLate: thrown.isLate };
    return { cause: thrown instanceof Error ? thrown.message : String(thrown), isLate: false };
  }
}

/** Ends the look into submodules: something is unknown. */
class Silence extends Error {
  readonly isLate: boolean;

  constructor(cause: string, isLate = false) {
    super(cause);
    this.isLate = isLate;
  }
}

async function eachSubmodule(
  git: Git,
  root: string,
  left: { count: number },
  visit: (path: string, dir: string) => Promise<void>,
): Promise<void> {
  const paths: string[] = [];
  const records = new Records((record) => {
    if (record.startsWith("160000 ")) paths.push(record.slice(record.indexOf("\t") + 1));
  });
  demand(await git(root, ["ls-files", "--stage", "-z"], { onPiece: records.add }));
  left.count -= paths.length;
  if (left.count < 0) throw new Silence(`there are more than ${SUBMODULES_MAX} submodules`);
  await Promise.all(
    paths.map(async (path) => {
      const dir = join(root, Buffer.from(path, "latin1").toString());
      if (await isPopulated(dir)) await visit(path, dir);
    }),
  );
}

/** One without a repository in it has nothing of its own, as for git. */
async function isPopulated(dir: string): Promise<boolean> {
  try {
    await lstat(join(dir, ".git"));
    return true;
  } catch {
    return false;
  }
}

async function hasChanges(git: Git, dir: string, left: { count: number }, depth: number): Promise<boolean> {
  if (depth > DEPTH_MAX) throw new Silence(`submodules are nested more than ${DEPTH_MAX} deep`);
  const [top, config] = await Promise.all([
    git(dir, ["rev-parse", "--show-toplevel"]),
    git(dir, ["config", "--list", "--null"]),
  ]);
  demand(top);
  const settings = parseSettings(demand(config).toString());
  if (lineOf(top) !== (await realpath(dir)))
    throw new Silence("a submodule configures a work tree somewhere else");
  const filters = filtersOff(settings);
  if (filters === undefined) throw new Silence("a submodule has filters that cannot be switched off");
  let isChanged = false;
  const onPiece = (piece: Buffer) => {
    isChanged ||= piece.length > 0;
  };
  demand(await git(dir, [...filters, ...STATUS, "--untracked-files=normal"], { onPiece }));
  if (isChanged) return true;
  await eachSubmodule(git, dir, left, async (_path, inner) => {
    isChanged = (await hasChanges(git, inner, left, depth + 1)) || isChanged;
  });
  return isChanged;
}

function demand(outcome: Outcome): Buffer {
  if (outcome.ok) return outcome.stdout;
  throw new Silence(outcome.cause, outcome.why === "late");
}

function silence(outcome: Extract<Outcome, { ok: false }>): { cause: string; isLate: boolean } {
  return { cause: outcome.cause, isLate: outcome.why === "late" };
}
