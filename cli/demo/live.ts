import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { LogLinesSchema } from "#proto/cairn/v1/log_pb.ts";
import { EnvelopeSchema, type Envelope } from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { lossAt } from "./curves.ts";
import { jsonParams } from "./fill-demo.ts";
import { Random } from "./random.ts";

interface LiveRun {
  key: string;
  namespace: string;
  name: string;
  params: Readonly<Record<string, unknown>>;
  tags: Readonly<Record<string, string>>;
  stepsPerSecond: number;
  validateEvery: number;
  loss: { start: number; floor: number; pace: number; noise: number };
  objective: { key: string; at(step: number): number };
}

const RUNS: readonly LiveRun[] = [
  {
    key: "live-1",
    namespace: "speech/en_wav2vec",
    name: "wav2vec-finetune-live",
    params: { hours: 960, lr: 0.00005, freeze_steps: 100, dropout: 0.05, seed: 11 },
    tags: { team: "speech", owner: "ines" },
    stepsPerSecond: 2,
    validateEvery: 20,
    loss: { start: 3, floor: 0.18, pace: 300, noise: 0.06 },
    objective: { key: "val/wer", at: (step) => 0.058 + 0.4 * Math.exp(-step / 700) },
  },
  {
    key: "live-2",
    namespace: "vision/pretraining",
    name: "vit-b16-live",
    params: { model: "vit-b16", world_size: 8, global_batch: 4_096, lr: 0.002, precision: "bf16" },
    tags: { team: "vision", owner: "mei" },
    stepsPerSecond: 5,
    validateEvery: 100,
    loss: { start: 6.9, floor: 2.2, pace: 900, noise: 0.03 },
    objective: { key: "val/miou", at: (step) => 0.71 * (1 - Math.exp(-step / 3_000)) },
  },
  {
    key: "live-3",
    namespace: "translation/nightly",
    name: "mt-de-en-live",
    params: { source: "de", target: "en", lr: 0.0007, max_tokens: 32_768 },
    tags: { team: "translation", owner: "olu" },
    stepsPerSecond: 1,
    validateEvery: 30,
    loss: { start: 9.1, floor: 2.1, pace: 200, noise: 0.03 },
    objective: { key: "val/bleu", at: (step) => 32 * (1 - Math.exp(-step / 500)) },
  },
];

const TICK_MS = 1_000;
const HEARTBEAT_S = 10;
/** How long they seem to have been running when they are first seen. */
const BEFORE_S = 900;
/** While the server is unavailable, steps beyond this are dropped. */
const STEPS_PER_ENVELOPE_MAX = 10_000;
const CALL_MS_MAX = 5_000;

export interface LiveOptions {
  namespace: string;
  seed: number;
  /** Ends them. */
  signal: AbortSignal;
  /** How often they log. */
  tickMs?: number | undefined;
  onTrouble?: (message: string) => void;
}

/** A few runs that keep logging until the signal is aborted; then they get the status killed. */
export async function logLive(cairn: Cairn, options: LiveOptions): Promise<void> {
  await Promise.all(RUNS.map((run) => keepLogging(cairn, run, options)));
}

async function keepLogging(cairn: Cairn, live: LiveRun, options: LiveOptions): Promise<void> {
  const { run, firstStep } = await start(cairn, live, options);
  const source = new LiveSource(live, run, options.seed, firstStep);
  const { tickMs = TICK_MS } = options;
  const pause = () => sleep(tickMs, undefined, { signal: options.signal }).catch(() => {});
  // The same envelope until it is acknowledged: its number makes sure that it counts once.
  let pending: Envelope | undefined;
  let reported = false;
  while (!options.signal.aborted) {
    pending ??= source.next(Date.now());
    try {
      await cairn.metrics.writeEnvelope(pending, { timeoutMs: CALL_MS_MAX });
      pending = undefined;
      reported = false;
    } catch (thrown) {
      if (!reported) options.onTrouble?.(Failure.from(thrown, cairn.url).message);
      reported = true;
    }
    await pause();
  }
  if (pending !== undefined) await cairn.metrics.writeEnvelope(pending, { timeoutMs: CALL_MS_MAX });
  const last = source.next(Date.now());
  last.status = RunStatus.KILLED;
  last.log.push(create(LogLinesSchema, { stream: "stderr", lines: ["KeyboardInterrupt"] }));
  await cairn.metrics.writeEnvelope(last, { timeoutMs: CALL_MS_MAX });
}

/** A run of an earlier demo continues where it stopped. */
async function start(
  cairn: Cairn,
  live: LiveRun,
  { namespace, seed }: LiveOptions,
): Promise<{ run: Run; firstStep: number }> {
  const { run, created } = await cairn.runs.createRun({
    namespace: `${namespace}/${live.namespace}`,
    name: live.name,
    aliases: [`demo:${seed}:${live.key}`],
    params: jsonParams(live.params),
    tags: live.tags,
    startedUs: BigInt(Date.now() - BEFORE_S * 1_000) * 1000n,
    getOrCreate: true,
  });
  if (created) return { run: run!, firstStep: 0 };
  const { series } = await cairn.metrics.listSeries({ run: { id: run!.id }, regex: "^train/loss$" });
  await cairn.runs.updateRun({ run: { id: run!.id }, status: RunStatus.RUNNING });
  const last = series[0]?.summary?.last?.step;
  return { run: run!, firstStep: last === undefined ? 0 : Number(last) + 1 };
}

/** Makes one envelope after another, each with the steps since the last. */
class LiveSource {
  readonly #live: LiveRun;
  readonly #runId: string;
  readonly #random: Random;
  readonly #writer = `live-${randomUUID()}`;
  readonly #startMs: number;
  readonly #firstStep: number;
  #seq = 0n;
  #step: number;

  constructor(live: LiveRun, run: Run, seed: number, firstStep: number) {
    this.#live = live;
    this.#runId = run.id;
    this.#random = new Random(`cairn demo ${seed}`).fork(live.key);
    this.#firstStep = firstStep;
    this.#step = firstStep;
    this.#startMs = firstStep === 0 ? Number(run.startedUs) / 1000 : Date.now();
  }

  next(nowMs: number): Envelope {
    const { stepsPerSecond, validateEvery, loss, objective } = this.#live;
    const due = this.#firstStep + Math.floor(((nowMs - this.#startMs) / 1000) * stepsPerSecond);
    const to = Math.min(due, this.#step + STEPS_PER_ENVELOPE_MAX);
    const columns = (steps: readonly number[], valueAt: (step: number) => number) => ({
      steps: steps.map(BigInt),
      values: steps.map(valueAt),
      timesUs: steps.map((step) => BigInt(Math.round(this.#timeMs(step))) * 1000n),
    });
    const steps = Array.from({ length: Math.max(0, to - this.#step) }, (_, i) => this.#step + i);
    const checks = steps.filter((step) => (step + 1) % validateEvery === 0);
    this.#step += steps.length;
    const lossOf = (step: number) => lossAt(step, loss, this.#random.fork(step));
    const last = steps.at(-1);
    return create(EnvelopeSchema, {
      run: { id: this.#runId },
      writer: this.#writer,
      seq: ++this.#seq,
      heartbeatSeconds: HEARTBEAT_S,
      series: [
        { key: "train/loss", ...columns(steps, lossOf) },
        {
          key: "perf/step_seconds",
          ...columns(
            steps,
            (step) => Math.exp(0.05 * this.#random.fork(`t${step}`).normal()) / stepsPerSecond,
          ),
        },
        {
          key: objective.key,
          ...columns(
            checks,
            (step) => objective.at(step) * (1 + 0.01 * this.#random.fork(`v${step}`).normal()),
          ),
        },
      ].filter(({ values }) => values.length > 0),
      ...(last !== undefined && {
        log: [{ lines: [`step ${String(last).padStart(6)} | train/loss ${lossOf(last).toFixed(4)}`] }],
      }),
    });
  }

  #timeMs(step: number): number {
    return this.#startMs + ((step - this.#firstStep) / this.#live.stepsPerSecond) * 1000;
  }
}
