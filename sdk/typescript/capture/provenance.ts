/**
 * Everything about a run that can be collected automatically: code, command, machine. It is collected beside the
 * training, so every part has a deadline and none may fail the run; a part that is missing leaves a note under
 * `note:<part>` in the environment.
 */
import { homedir, hostname } from "node:os";
import { relative, resolve } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ProvenanceSchema, TrackedChanges } from "#proto/cairn/v1/run_pb.ts";
import { archiveWorkdir, type Archive } from "./archive/archive.ts";
import { readGit, type GitState } from "./git.ts";
import { readGpuModels } from "./gpus.ts";
import { describeHost, userName } from "./host.ts";
import { knownSecretRedactor } from "./secrets/known-secrets.ts";
import { findPackages } from "./packages.ts";
import { redactArgs } from "./secrets/secret-args.ts";
import { chosenVariables } from "./variables.ts";
import { findRepository } from "./archive/walk.ts";

type ProvenanceInit = Exclude<MessageInitShape<typeof ProvenanceSchema>, { $typeName: string }>;
type CodeInit = Exclude<NonNullable<ProvenanceInit["code"]>, { $typeName: string }>;

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
  /** The machine, and the user of the operating system. */
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

export interface Collecting {
  /** Resolves, always, after a little more than the longest deadline of what was asked for. */
  whole: Promise<Collected>;
  /**
   * What is known by now. With `why` nothing more will be added, and a note for each part that is missing gives that
   * reason.
   */
  soFar(why?: string): ProvenanceInit;
  /** A text without the secrets of the environment. */
  scrub(text: string): string;
}

const GIT_MS_MAX = 5_000;
const GPU_MS_MAX = 2_000;
const FILES_MS_MAX = 1_000;
const COMMAND_WORDS_MAX = 1_000;
const COMMAND_CHARACTERS_MAX = 64 << 10;
/** Of all words: a run has at most 8 MiB of provenance. */
const COMMAND_BYTES_MAX = 1 << 20;

export function collectProvenance(options: CollectOptions = {}): Promise<Collected> {
  return startCollecting(options).whole;
}

/** Begins at once. */
export function startCollecting(options: CollectOptions = {}): Collecting {
  const {
    env = process.env,
    git = true,
    packages = true,
    host = true,
    gpu = true,
    variables = true,
  } = options;
  const dir = resolve(options.dir ?? process.cwd());
  const facts = new Facts(env, options.command, host ? userName(env) : undefined);
  const { environment } = facts;
  // The others take a moment.
  if (host) environment.set("host", hostname());
  const part = async (name: string, isWanted: boolean, timeoutMs: number, work: () => Promise<void>) => {
    if (!isWanted) return;
    facts.missing.add(name);
    await withDeadline(work(), timeoutMs).catch((thrown: unknown) => {
      facts.leaveOut(name, thrown instanceof Error ? thrown.message : String(thrown));
    });
    facts.missing.delete(name);
  };
  let archive: Archive | undefined;
  const gitTimeoutMs = options.gitTimeoutMs ?? GIT_MS_MAX;
  const gpuTimeoutMs = options.gpuTimeoutMs ?? GPU_MS_MAX;
  const parts = Promise.all([
    part("git", git, gitTimeoutMs + FILES_MS_MAX, async () => {
      // Most folders are in no repository, which needs no note.
      if ((await findRepository(dir)) === undefined) return;
      facts.isInRepository = true;
      const answer = await readGit(dir, { timeoutMs: gitTimeoutMs, withPatch: options.patch ?? true, env });
      if ("cause" in answer) throw new Error(answer.cause);
      const code = answer.git;
      facts.code = codeOf(code);
      for (const text of code.notes) facts.note("git", text);
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
      if (archive.note !== undefined) facts.note("archive", archive.note);
    }),
  ]);
  return {
    whole: parts.then(() => ({ provenance: facts.scrubbed(), ...(archive !== undefined && { archive }) })),
    soFar: (why) => facts.scrubbed(why),
    scrub: (text) => facts.scrub(text),
  };
}

/** What was found until now. */
class Facts {
  readonly environment = new Map<string, string>();
  /** Parts that may still come. */
  readonly missing = new Set<string>();
  code: CodeInit | undefined;
  isInRepository = false;
  readonly scrub: (text: string) => string;
  readonly #command: string[];
  readonly #user: string | undefined;

  constructor(env: NodeJS.ProcessEnv, command: readonly string[] | undefined, user: string | undefined) {
    const redactKnown = knownSecretRedactor(env);
    this.scrub = (text) => redactKnown(text.toWellFormed());
    const given = command ?? [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const words = redactArgs(given.slice(0, COMMAND_WORDS_MAX)).map((word) => shortened(this.scrub(word)));
    let left = COMMAND_BYTES_MAX;
    const end = words.findIndex((word) => (left -= Buffer.byteLength(word)) < 0);
    this.#command = end === -1 ? words : words.slice(0, end);
    const count = this.#command.length;
    if (count < given.length) this.note("command", `cut off after ${count} words`);
    this.#user = user;
  }

  note(part: string, text: string): void {
    add(this.environment, part, text);
  }

  leaveOut(part: string, why: string): void {
    this.note(part, `left out: ${why}`);
    if (part === "git" && this.isInRepository) this.code = { patchLeftOut: why };
  }

  scrubbed(why?: string): ProvenanceInit {
    const environment = new Map(this.environment);
    let { code } = this;
    if (why !== undefined) {
      for (const part of this.missing) add(environment, part, `left out: ${why}`);
      if (this.missing.has("git") && this.isInRepository) code ??= { patchLeftOut: why };
    }
    const { scrub } = this;
    return {
      command: this.#command,
      ...(this.#user !== undefined && { user: scrub(this.#user) }),
      environment: Object.fromEntries(
        [...environment].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => [scrub(key), scrub(text)]),
      ),
      ...(code !== undefined && { code: scrubbedCode(code, scrub) }),
    };
  }
}

function add(environment: Map<string, string>, part: string, text: string): void {
  const before = environment.get(`note:${part}`);
  environment.set(`note:${part}`, before === undefined ? text : `${before}; ${text}`);
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

function codeOf({ root: _root, notes: _notes, leftOutBytes, ...state }: GitState): CodeInit {
  const { untrackedFiles, changedSubmodules, trackedChanges, ...rest } = state;
  return {
    ...rest,
    trackedChanges: trackedChanges as TrackedChanges,
    leftOutBytes: BigInt(leftOutBytes),
    ...(untrackedFiles !== undefined && { untrackedFiles }),
    ...(changedSubmodules !== undefined && { changedSubmodules }),
  };
}

function scrubbedCode(code: CodeInit, scrub: (text: string) => string): CodeInit {
  const scrubbed = { ...code };
  for (const field of ["repository", "branch", "dirtyPatch", "patchLeftOut"] as const) {
    const text = code[field];
    if (text !== undefined) scrubbed[field] = scrub(text);
  }
  return scrubbed;
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
