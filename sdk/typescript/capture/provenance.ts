/**
 * Everything about a run that can be collected automatically: code, command, machine. It is collected beside the
 * training, so every part has a deadline and none may fail the run; a part that is missing leaves a note under
 * `note:<part>` in the environment.
 */
import { homedir } from "node:os";
import { relative, resolve } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ProvenanceSchema } from "#proto/cairn/v1/run_pb.ts";
import { archiveWorkdir, type Archive } from "./archive/archive.ts";
import { readGit, type GitState } from "./git.ts";
import { readGpuModels } from "./gpus.ts";
import { describeHost } from "./host.ts";
import { knownSecretRedactor } from "./secrets/known-secrets.ts";
import { findPackages } from "./packages.ts";
import { redactArgs } from "./secrets/secret-args.ts";
import { chosenVariables } from "./variables.ts";
import { findRepository } from "./archive/walk.ts";

type ProvenanceInit = Exclude<MessageInitShape<typeof ProvenanceSchema>, { $typeName: string }>;

export interface CollectOptions {
  /** The working directory. */
  dir?: string;
  env?: NodeJS.ProcessEnv;
  /** The whole command line. */
  command?: readonly string[];
  /** What is left out when it is false. */
  git?: boolean;
  patch?: boolean;
  packages?: boolean;
  host?: boolean;
  gpu?: boolean;
  variables?: boolean;
  /** Where to write an archive of the working directory. Absent: there is none. */
  archive?: { target: string; sizeBytesMax?: number; signal?: AbortSignal };
  gitTimeoutMs?: number;
  gpuTimeoutMs?: number;
}

export interface Collected {
  provenance: ProvenanceInit;
  /** As asked for; without a `path` when there is none. */
  archive?: Archive;
}

const GIT_MS_MAX = 500;
const GPU_MS_MAX = 2_000;
const FILES_MS_MAX = 1_000;
const COMMAND_WORDS_MAX = 1_000;
const COMMAND_CHARACTERS_MAX = 64 << 10;

/** Resolves, always, after a little more than the longest deadline of what was asked for. */
export async function collectProvenance(options: CollectOptions = {}): Promise<Collected> {
  const {
    env = process.env,
    git = true,
    packages = true,
    host = true,
    gpu = true,
    variables = true,
  } = options;
  const dir = resolve(options.dir ?? process.cwd());
  const environment = new Map<string, string>();
  const note = (part: string, text: string) => {
    const before = environment.get(`note:${part}`);
    environment.set(`note:${part}`, before === undefined ? text : `${before}; ${text}`);
  };
  const part = async (name: string, isWanted: boolean, timeoutMs: number, work: () => Promise<void>) => {
    if (!isWanted) return;
    await withDeadline(work(), timeoutMs).catch((thrown: unknown) => {
      note(name, `left out: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    });
  };
  let code: GitState | undefined;
  let archive: Archive | undefined;
  const gitTimeoutMs = options.gitTimeoutMs ?? GIT_MS_MAX;
  const gpuTimeoutMs = options.gpuTimeoutMs ?? GPU_MS_MAX;
  await Promise.all([
    part("git", git, gitTimeoutMs + FILES_MS_MAX, async () => {
      // Most folders are in no repository, which needs no note.
      if ((await findRepository(dir)) === undefined) return;
      const answer = await readGit(dir, { timeoutMs: gitTimeoutMs, withPatch: options.patch ?? true, env });
      if ("cause" in answer) throw new Error(answer.cause);
      code = answer.git;
      for (const text of code.notes) note("git", text);
      const inside = relative(code.root, dir);
      if (inside !== "" && !inside.startsWith("..")) environment.set("directory", inside);
    }),
    part("gpu", gpu, gpuTimeoutMs + FILES_MS_MAX, async () => {
      const answer = await readGpuModels({ timeoutMs: gpuTimeoutMs, keepsAlive: true, env });
      // A machine without nvidia-smi has no such GPU, which needs no note.
      if (!answer.ok && !answer.isMissing) throw new Error(answer.cause);
      for (const { index, name, driver, memoryBytes } of answer.ok ? answer.gpus : []) {
        environment.set(`gpu.${index}`, name);
        if (memoryBytes !== undefined) environment.set(`gpu.${index}.memory.bytes`, String(memoryBytes));
        environment.set("gpu.driver", driver);
      }
    }),
    part("packages", packages, FILES_MS_MAX, async () => {
      for (const [name, version] of await findPackages(dir)) environment.set(`package:${name}`, version);
    }),
    part("host", host, FILES_MS_MAX, async () => {
      for (const [name, fact] of await describeHost()) environment.set(name, fact);
    }),
    part("variables", variables, FILES_MS_MAX, async () => {
      for (const [name, value] of chosenVariables(env)) environment.set(`env:${name}`, value);
    }),
    part("archive", options.archive !== undefined, Number.POSITIVE_INFINITY, async () => {
      const { target, ...limits } = options.archive!;
      archive = await archiveWorkdir(dir, target, { ...limits, env });
      if (archive.note !== undefined) note("archive", archive.note);
    }),
  ]);
  const redactKnown = knownSecretRedactor(env);
  const scrub = (text: string) => redactKnown(text.toWellFormed());
  const given = options.command ?? [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  if (given.length > COMMAND_WORDS_MAX) note("command", `cut off after ${COMMAND_WORDS_MAX} words`);
  const provenance: ProvenanceInit = {
    command: redactArgs(given.slice(0, COMMAND_WORDS_MAX)).map((word) => shortened(scrub(word))),
    environment: Object.fromEntries(
      [...environment].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [scrub(key), scrub(value)]),
    ),
    ...(code !== undefined && { code: scrubbedCode(code, scrub) }),
  };
  return { provenance, ...(archive !== undefined && { archive }) };
}

/**
 * Whether a working directory is archived by default: only inside a repository, because anything else may
 * be a whole disk, and never a home folder as such.
 */
export async function isWorthArchiving(dir: string = process.cwd()): Promise<boolean> {
  const whole = resolve(dir);
  if (whole === resolve(homedir()) || whole === "/") return false;
  return (await findRepository(whole)) !== undefined;
}

function scrubbedCode({ repository, commit, branch, dirtyPatch }: GitState, scrub: (text: string) => string) {
  return {
    repository: scrub(repository),
    commit,
    branch: scrub(branch),
    dirtyPatch: scrub(dirtyPatch),
  };
}

function shortened(word: string): string {
  return word.length > COMMAND_CHARACTERS_MAX ? `${word.slice(0, COMMAND_CHARACTERS_MAX)}…` : word;
}

/** A late result is not waited for, and is ignored when it comes. */
async function withDeadline(work: Promise<void>, timeoutMs: number): Promise<void> {
  if (timeoutMs === Number.POSITIVE_INFINITY) return work;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
