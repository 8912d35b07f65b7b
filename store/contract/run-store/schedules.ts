import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ArtifactRecord } from "#core/types/artifact.ts";
import type { LogLines } from "#core/types/log.ts";
import type { AppendOutcome, RunAppend } from "#core/ports/journal.ts";
import type { SeriesOwner } from "#core/ports/point-store.ts";
import type { RunLedger } from "#core/ports/run-store.ts";
import { artifactRecord } from "../artifact-record.ts";
import { logLines, readAll } from "../naive-log.ts";
import {
  ackOf,
  createRun,
  envelope,
  EVERYTHING,
  getRun,
  NOW_US,
  numbers,
  points,
  refused,
  useStores,
  type Bench,
  type OpenStores,
  selectOf,
} from "../stores.ts";

/** One step of a client that retries: it sends some envelopes of one writer, in one call or in several. */
interface Delivery {
  writer: number;
  /** How far from the next number; -1 sends the last one again. */
  offsets: number[];
  /** Sends other content under the first of these numbers. */
  altered: boolean;
  together: boolean;
}

interface Schedule {
  /** Of each writer, the losses before each of its envelopes. */
  writers: number[][];
  deliveries: Delivery[];
  /** Bodies without a number, by index, as often as they are repeated; sent in two halves. */
  repeats: number[];
  settleAfter: number;
  /** Whether its envelopes carry log lines and artifacts too. */
  extras: boolean;
}

const scheduleArbitrary: fc.Arbitrary<Schedule> = fc.record({
  writers: fc.array(
    fc.array(fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3 })), {
      minLength: 1,
      maxLength: 5,
    }),
    { minLength: 2, maxLength: 4 },
  ),
  deliveries: fc.array(
    fc.record({
      writer: fc.nat(3),
      offsets: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 3 }),
      altered: fc.boolean(),
      together: fc.boolean(),
    }),
    { maxLength: 8 },
  ),
  repeats: fc.array(fc.nat(3), { maxLength: 8 }),
  settleAfter: fc.nat(100),
  extras: fc.boolean(),
});

/** The n-th envelope of a writer, a new object each time: the store owns its arguments. */
function envelopeOf(runId: string, schedule: Schedule, writer: number, n: number): RunAppend {
  const losses = schedule.writers[writer]!;
  const seq = n + 1 + losses.slice(0, n + 1).reduce((sum, lost) => sum + lost, 0);
  const lost = losses[n]!;
  const labels = [["writer", String(writer)]] as const;
  const text = points({ kind: "text", data: [`${writer}.${n}`] }, { times: Float64Array.of(NOW_US + n) });
  return envelope(runId, seq, {
    writer: `writer ${writer}`,
    lost: lost === 0 ? [] : [{ first: seq - lost, last: seq - 1 }],
    series: [
      numbers("loss", [seq / 3, n % 2 === 0 ? NaN : -0], 10 - n, labels),
      ...(n % 3 === 1 ? [{ key: "note", labels, points: text }] : []),
    ],
    ...(schedule.extras && {
      ...((writer + n) % 3 === 0 && { log: logOf(writer, n) }),
      ...(writer === 1 && n % 2 === 1 && { artifacts: artifactsOf(n) }),
    }),
    change:
      n % 2 === 0
        ? { params: new Map([[`p${writer}`, String(n)]]), tags: new Map([[`t${writer}.${n}`, "x"]]) }
        : undefined,
  });
}

/** To be stored once, however often it is sent. */
function bodyOf(runId: string, n: number): RunAppend {
  const parts = { series: [numbers("free", [n], n)], log: logOf(4, n), dropRepeated: true } as const;
  return envelope(runId, 0, parts);
}

/** The rank identifies the writer of the lines: between writers there is no order. */
function logOf(writer: number, n: number): LogLines[] {
  const times = n % 2 === 0 ? undefined : Float64Array.of(NOW_US + n, NOW_US - n);
  return [logLines([`${writer}.${n}`, "🐈"], { rank: writer, times })];
}

/** One that every such envelope of the writer replaces, and one of its own. */
function artifactsOf(n: number): ArtifactRecord[] {
  return [
    artifactRecord({ name: "last", content: Buffer.from(String(n)) }),
    artifactRecord({ name: "all", step: n, uri: `s3://b/${n}` }),
  ];
}

/** Delivers until every envelope is acknowledged, with any schedule in between. */
class Client {
  readonly #bench: Bench;
  readonly #runId: string;
  readonly #schedule: Schedule;
  readonly #acknowledged: number[];

  constructor(bench: Bench, runId: string, schedule: Schedule) {
    this.#bench = bench;
    this.#runId = runId;
    this.#schedule = schedule;
    this.#acknowledged = schedule.writers.map(() => 0);
  }

  async deliver(delivery: Delivery): Promise<void> {
    const writer = delivery.writer % this.#schedule.writers.length;
    const count = this.#schedule.writers[writer]!.length;
    const wanted = delivery.offsets
      .map((offset) => this.#acknowledged[writer]! + offset)
      .filter((n) => n >= 0 && n < count);
    const sent = wanted.map((n, at) => {
      const one = envelopeOf(this.#runId, this.#schedule, writer, n);
      const altered = delivery.altered && at === 0 && n < this.#acknowledged[writer]!;
      return { n, altered, envelope: altered ? { ...one, ...alterations[n % alterations.length] } : one };
    });
    const outcomes = await this.#append(
      sent.map((one) => one.envelope),
      delivery.together,
    );
    outcomes.forEach((outcome, at) => this.#judge(outcome, writer, sent[at]!));
  }

  /** Bodies that are repeated whenever no answer came, one after the other. */
  async repeat(bodies: readonly number[], together: boolean): Promise<void> {
    for (const outcome of await this.#append(
      bodies.map((n) => bodyOf(this.#runId, n)),
      together,
    ))
      ackOf(outcome);
  }

  /** What is left, each once and in order. */
  async finish(): Promise<void> {
    const rest = this.#schedule.writers.flatMap((losses, writer) =>
      losses.flatMap((_, n) =>
        n < this.#acknowledged[writer]! ? [] : [envelopeOf(this.#runId, this.#schedule, writer, n)],
      ),
    );
    for (const outcome of await this.#append(rest, true)) ackOf(outcome);
  }

  async #append(envelopes: RunAppend[], together: boolean): Promise<AppendOutcome[]> {
    const { journal } = this.#bench;
    if (together) return journal.append(envelopes, NOW_US);
    return (await Promise.all(envelopes.map((one) => journal.append([one], NOW_US)))).flat();
  }

  /** Allowed outcomes: an acknowledgement, or an expected refusal. */
  #judge(outcome: AppendOutcome, writer: number, sent: { n: number; altered: boolean }): void {
    if (outcome.ok) {
      if (sent.altered) throw new Error("other content was acknowledged under a known number");
      this.#acknowledged[writer] = Math.max(this.#acknowledged[writer]!, sent.n + 1);
    } else if (sent.altered) expect(outcome.error).toEqual(refused("exists", "SEQ_REUSED"));
    else expect(outcome.error).toEqual(refused("precondition", "SEQ_GAP"));
  }
}

/** Each makes another envelope of any. */
const alterations: readonly Partial<RunAppend>[] = [
  { series: [] },
  { log: [logLines(["other"])] },
  { artifacts: [artifactRecord({ name: "other", uri: "s3://b/other" })] },
];

/** Everything a run holds, without its identity. */
async function dump(bench: Bench, runId: string, extras: boolean): Promise<unknown> {
  const [{ id: _, ...run }, listed, read, ledger, more] = await Promise.all([
    getRun(bench.runs, runId),
    selectOf(bench.points, runId, { limit: 100 }),
    bench.points.readSeries({
      ...EVERYTHING,
      includeReplaced: true,
      selectors: ["loss", "note", "free"].map((key) => ({ runId, key, labels: undefined })),
    }),
    bench.runs.verifyRun(runId),
    extras ? dumpExtras(bench, runId) : undefined,
  ]);
  const unowned = <T extends SeriesOwner>({ runId: __, ...one }: T) => one;
  const series = read.series.map(unowned);
  return { run, listed: listed.series.map(unowned), series, ledger: withoutTimes(ledger), more };
}

async function dumpExtras({ under: { logs, artifacts } }: Bench, runId: string): Promise<unknown> {
  const page = { prefix: "", kind: undefined, fromStep: undefined, toStep: undefined, after: undefined };
  const [lines, { rows: listed }] = await Promise.all([
    readAll(logs, runId),
    artifacts.listArtifacts({ ...page, runId, limit: 100, bytesMax: Infinity }),
  ]);
  if (lines.some(({ number }, i) => number !== i)) throw new Error("lines are not numbered from 0");
  for (const line of lines) line.number = 0;
  for (const artifact of listed) artifact.runId = "";
  return { lines: Object.groupBy(lines, ({ rank }) => String(rank)), artifacts: listed };
}

function withoutTimes({ writers, ...ledger }: RunLedger): unknown {
  const untimed = writers.map(({ writer, envelopes, lastSeq, lost, gaps }) => ({
    writer,
    envelopes,
    lastSeq,
    lost,
    gaps,
  }));
  return { ...ledger, writers: untimed };
}

const BATCH = 500;
const SETTLES = 4;
/** Half a minute on an idle machine. */
const TIMEOUT_MS = 180_000;

export function schedulesContract(open: OpenStores, schedules: number): void {
  const bench = useStores(open);

  it(
    `E8 leaves the content of single delivery in order, by ${schedules} random schedules`,
    async () => {
      const batch = Math.min(BATCH, schedules);
      const property = fc.asyncProperty(
        fc.array(scheduleArbitrary, { minLength: batch, maxLength: batch }),
        async (all) => {
          const tested = await Promise.all(
            all.map(async (schedule) => ({
              schedule,
              runId: await createRun(bench.runs),
              plain: await createRun(bench.runs),
            })),
          );
          const clients = tested.map(({ schedule, runId }) => new Client(bench, runId, schedule));
          // All schedules in parallel, with a restart if the store supports it.
          for (const half of [0, 1]) {
            if (half === 1) await bench.reopen();
            await Promise.all(
              tested.map(async ({ schedule }, at) => {
                const middle = Math.ceil(schedule.deliveries.length / 2);
                const { repeats, extras } = schedule;
                const bodies = repeats.slice(...(half === 0 ? [0, 4] : [4]));
                await clients[at]!.repeat(bodies, extras);
                const part =
                  half === 0 ? schedule.deliveries.slice(0, middle) : schedule.deliveries.slice(middle);
                for (const delivery of part) {
                  await clients[at]!.deliver(delivery);
                  if (schedule.settleAfter < SETTLES) await bench.under.settle();
                }
                if (half === 1) await clients[at]!.finish();
              }),
            );
          }
          await Promise.all(
            tested.map(async ({ schedule, plain, runId }) => {
              const single = new Client(bench, plain, schedule);
              await single.finish();
              await single.repeat([...new Set(schedule.repeats)], false);
              const [dumped, expected] = await Promise.all([
                dump(bench, runId, schedule.extras),
                dump(bench, plain, schedule.extras),
              ]);
              if (isDeepStrictEqual(dumped, expected)) return;
              expect(dumped, `after schedule ${JSON.stringify(schedule)}`).toEqual(expected);
              expect.fail("the dumps differ in a way that toEqual does not see");
            }),
          );
        },
      );
      await fc.assert(property, { numRuns: Math.ceil(schedules / batch), endOnFailure: true });
    },
    TIMEOUT_MS,
  );
}
