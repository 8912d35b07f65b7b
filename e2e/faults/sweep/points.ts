import { newRunId } from "#base/ids.ts";
import type { SeriesPoints } from "#core/types/series.ts";
import type { AppendEnvelope } from "#core/ports/journal.ts";
import type { SqliteStore } from "#store/sqlite/open.ts";
import { contentOf, type Content } from "../content.ts";
import { getRuns } from "#store/contract/stores.ts";
import { newRun, NOW_US, type OpenStores } from "./stores.ts";
import { Ledger, requireSame, type Workload } from "./workload.ts";

const WRITERS = ["a", "b"];
const SETTLE_EVERY = 9;

/** Numbered envelopes, each sent again until it is acknowledged, and the folding of their points. */
export class PointsWorkload implements Workload {
  readonly #runId = newRunId(NOW_US / 1000);
  /** Per writer the last number that was acknowledged, and the last that was sent. */
  readonly #acknowledged = new Map(WRITERS.map((writer) => [writer, 0]));
  readonly #sent = new Map(WRITERS.map((writer) => [writer, 0]));
  /** By their only param. */
  readonly #runs = new Ledger<string>();
  readonly endsWithAck = true;
  #store!: SqliteStore;

  async begin({ store }: OpenStores): Promise<void> {
    this.#store = store;
    if ((await getRuns(store, [this.#runId])).length > 0) return;
    await store.createRun(newRun(this.#runId), { getOrCreate: false });
  }

  async act(turn: number): Promise<void> {
    const store = this.#store;
    if (turn % SETTLE_EVERY === SETTLE_EVERY - 1) return store.settle();
    if (turn % SETTLE_EVERY === SETTLE_EVERY / 3) {
      const id = newRunId(NOW_US / 1000);
      const run = { ...newRun(id), params: new Map([["turn", String(turn)]]) };
      return this.#runs.note(id, String(turn), () => store.createRun(run, { getOrCreate: false }));
    }
    const writer = WRITERS[turn % WRITERS.length]!;
    const seq = this.#acknowledged.get(writer)! + 1;
    this.#sent.set(writer, Math.max(this.#sent.get(writer)!, seq));
    const [outcome] = await store.append([this.#envelope(writer, seq)], NOW_US);
    if (!outcome!.ok) throw outcome!.error;
    this.#acknowledged.set(writer, seq);
  }

  needs(): boolean {
    return true;
  }

  async end(): Promise<void> {}

  async check(settled: boolean): Promise<void> {
    const store = this.#store;
    const ledger = await store.verifyRun(this.#runId);
    requireSame("problems of the run", ledger.problems, []);
    let points = 0;
    for (const writer of WRITERS) {
      const found = ledger.writers.find(({ writer: name }) => name === writer);
      const stored = found?.lastSeq ?? 0;
      requireSame(`gaps of writer ${writer}`, found?.gaps ?? [], []);
      requireSame(`envelopes of writer ${writer}`, found?.envelopes ?? 0, stored);
      if (stored < this.#acknowledged.get(writer)! || stored > this.#sent.get(writer)!) {
        const known = `${this.#acknowledged.get(writer)} acknowledged, ${this.#sent.get(writer)} sent`;
        throw new Error(`writer ${writer}: ${stored} envelopes are stored, ${known}`);
      }
      points += await checkSeries(store, this.#runId, writer, stored);
    }
    requireSame("points of the run", ledger.points, points);
    await this.#runs.check("run", settled, async (id) => {
      const [run] = await getRuns(store, [id]);
      return run?.params.get("turn");
    });
  }

  #envelope(writer: string, seq: number): AppendEnvelope {
    const { series, params } = contentOf(writer, seq);
    const change = { params: new Map(Object.entries(params)) };
    return {
      runId: this.#runId,
      writer,
      seq,
      series: series.map(toSeries),
      change: change.params.size > 0 ? change : undefined,
      lost: [],
    };
  }
}

/** Returns the number of points in the writer's envelopes. */
async function checkSeries(
  store: SqliteStore,
  runId: string,
  writer: string,
  stored: number,
): Promise<number> {
  const expected = new Map<string, { steps: number[]; values: number[] }>();
  for (let seq = 1; seq <= stored; seq++) {
    for (const { key, steps, values } of contentOf(writer, seq).series) {
      const known = expected.get(key) ?? { steps: [], values: [] };
      expected.set(key, known);
      known.steps.push(...steps);
      known.values.push(...values);
    }
  }
  const { series } = await store.readSeries({
    selectors: [...expected.keys()].map((key) => ({ runId, key, labels: [] })),
    axis: "step",
    from: undefined,
    to: undefined,
    buckets: 0,
    includeReplaced: true,
    onlyReplaced: false,
    pointsMax: 5_000_000,
    bytesMax: 160 << 20,
    numberBytes: 8,
  });
  let count = 0;
  for (const [key, { steps, values }] of expected) {
    const data = series.find((one) => one.key === key)?.data;
    if (data?.form !== "exact") throw new Error(`series ${key} is not there as it should be`);
    requireBytes(`steps of ${key}`, data.points.steps, steps);
    requireBytes(`values of ${key}`, data.points.values.data as Float64Array, values);
    count += values.length;
  }
  return count;
}

function requireBytes(what: string, found: Float64Array | undefined, expected: readonly number[]): void {
  const bytes = Buffer.from(Float64Array.from(expected).buffer);
  const same =
    found === undefined
      ? expected.length === 0
      : Buffer.from(found.buffer, found.byteOffset, found.byteLength).equals(bytes);
  if (!same) throw new Error(`${what} differ from the acknowledged ones`);
}

function toSeries({ key, steps, values }: Content["series"][number]): SeriesPoints {
  const points = {
    count: values.length,
    steps: Float64Array.from(steps),
    times: undefined,
    nanos: undefined,
    values: { kind: "number" as const, data: Float64Array.from(values) },
  };
  return { key, labels: [], points };
}
