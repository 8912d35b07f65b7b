import { Code } from "@connectrpc/connect";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { inParallel } from "#base/in-parallel.ts";
import { retry } from "#sdk/retry.ts";
import { STORY_DAYS, DAY_S, type DemoNamespace, type DemoRun, type DemoScaleName } from "./demo-run.ts";
import { envelopesOf, toUs } from "./envelopes.ts";
import { tellStory } from "./story.ts";

export interface FillOptions {
  /** The namespace to fill. */
  namespace?: string;
  seed?: number;
  scale?: DemoScaleName;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number, name: string) => void;
}

export interface Filled {
  /** Ids by the last part of the alias, such as "sweep-17" or "spike". */
  ids: ReadonlyMap<string, string>;
  /** How many runs were written now; the others were there already. */
  written: number;
  points: number;
  /** Failures that do not matter much. */
  remarks: readonly string[];
}

const RUNS_AT_ONCE = 6;
const PATIENCE_MS = 12_000;

/**
 * Writes the history of the demo through the API. Everything has a fixed name (`demo:SEED:KEY` as its alias), so
 * that doing it again changes nothing, and continues an interrupted attempt.
 */
export async function fillDemo(cairn: Cairn, options: FillOptions = {}): Promise<Filled> {
  const { namespace = "demo", seed = 42, scale = "full", signal, onProgress } = options;
  // Fail fast when no server answers.
  await cairn.system.getInfo({});
  const story = tellStory(seed, scale);
  const filling = new Filling(cairn, namespace, seed);
  for (const each of story.namespaces) await filling.addNamespace(each);
  await filling.begin(story.runs[0]!);
  let done = 0;
  const write = async (run: DemoRun) => {
    await filling.write(run);
    onProgress?.(++done, story.runs.length, run.name);
  };
  await inParallel(story.runs, RUNS_AT_ONCE, write, signal);
  for (const run of story.runs) await filling.link(run);
  for (const each of story.namespaces) if (each.closed === true) await filling.close(each);
  return filling;
}

class Filling implements Filled {
  readonly ids = new Map<string, string>();
  readonly remarks: string[] = [];
  written = 0;
  points = 0;
  readonly #cairn: Cairn;
  readonly #namespace: string;
  readonly #seed: number;
  #beginUs = 0;

  constructor(cairn: Cairn, namespace: string, seed: number) {
    this.#cairn = cairn;
    this.#namespace = namespace;
    this.#seed = seed;
  }

  /** An existing one is not changed; a user may have edited it. */
  async addNamespace({ path, description, objective, keys = [] }: DemoNamespace): Promise<void> {
    const whole = this.#path(path);
    try {
      await retried(() =>
        this.#cairn.namespaces.createNamespace({ path: whole, description, ...(objective && { objective }) }),
      );
    } catch (thrown) {
      if (Failure.from(thrown).code !== Code.AlreadyExists) throw thrown;
    }
    for (const key of keys) {
      await retried(() => this.#cairn.metrics.describeKey({ description: { ...key, namespace: whole } }));
    }
  }

  /** The first run determines when the story began: now, or when the demo was started for the first time. */
  async begin(first: DemoRun): Promise<void> {
    this.#beginUs = Math.floor(Date.now() / 1000 - STORY_DAYS * DAY_S) * 1e6;
    const { run } = await this.#create(first);
    this.#beginUs = Number(run!.startedUs) - Math.round(first.startS * 1e6);
  }

  async write(demo: DemoRun): Promise<void> {
    const { run, created } = await this.#create(demo);
    this.ids.set(demo.key, run!.id);
    // A run that is complete has its last status.
    if (!created && (run!.status === demo.status || demo.parts === undefined)) return;
    for (const envelope of envelopesOf(demo, run!.id, this.#beginUs)) {
      const ack = await retried(() => this.#cairn.metrics.writeEnvelope(envelope));
      this.points += ack.duplicate ? 0 : Number(ack.points);
    }
    this.written++;
  }

  async link(demo: DemoRun): Promise<void> {
    for (const { run, id, artifact = "" } of demo.sources ?? []) {
      const source =
        run === undefined ? { id: id!, artifact } : { run: { id: this.ids.get(run)! }, artifact };
      await retried(() => this.#cairn.lineage.addSource({ run: { id: this.ids.get(demo.key)! }, source }));
    }
  }

  async close({ path }: DemoNamespace): Promise<void> {
    try {
      await retried(() =>
        this.#cairn.access.setClosed({ scope: { namespace: this.#path(path) }, closed: true }),
      );
    } catch (thrown) {
      const { code, message } = Failure.from(thrown);
      if (code !== Code.PermissionDenied && code !== Code.NotFound) throw thrown;
      this.remarks.push(`namespace "${this.#path(path)}" is not closed: ${message}`);
    }
  }

  #create(demo: DemoRun) {
    return retried(() =>
      this.#cairn.runs.createRun({
        namespace: this.#path(demo.namespace),
        name: demo.name,
        aliases: [`demo:${this.#seed}:${demo.key}`],
        params: jsonParams(demo.params),
        tags: demo.tags ?? {},
        notes: demo.notes ?? "",
        ...(demo.provenance && { provenance: demo.provenance }),
        status: demo.status === RunStatus.SCHEDULED ? RunStatus.SCHEDULED : RunStatus.RUNNING,
        startedUs: demo.status === RunStatus.SCHEDULED ? 0n : BigInt(toUs(demo.startS, this.#beginUs)),
        getOrCreate: true,
      }),
    );
  }

  #path(below: string): string {
    return below === "" ? this.#namespace : `${this.#namespace}/${below}`;
  }
}

export function jsonParams(params: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)]));
}

/** Retries when the server is busy; every call of the demo may be repeated. */
function retried<T>(call: () => Promise<T>): Promise<T> {
  return retry(call, { patienceMs: PATIENCE_MS });
}
