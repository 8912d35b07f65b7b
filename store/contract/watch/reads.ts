import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { WatchEvent } from "#core/watch/event.ts";
import { buildCore, CALLER, type CoreUnderTest } from "../core-under-test.ts";
import { numbers, useStores, type OpenStores } from "../stores.ts";
import { withWakeUps } from "./journal-wake-ups.ts";
import { ALL_RUNS, flat, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";

const RUNS = 3;
const EXACT = {
  form: "bytes",
  axis: "step",
  from: undefined,
  to: undefined,
  buckets: 0,
  includeReplaced: false,
  onlyReplaced: false,
} as const;

/** A change through one of two cores, with or without waiting for the answer. */
const changeArbitrary = fc.record({
  do: fc.constantFrom("points", "tag", "create"),
  run: fc.nat(RUNS - 1),
  core: fc.nat(1),
  wait: fc.boolean(),
});

const scheduleArbitrary = fc.record({
  before: fc.array(changeArbitrary, { maxLength: 6 }),
  /** While the list and the points are being read. */
  during: fc.array(changeArbitrary, { maxLength: 6 }),
  between: fc.array(changeArbitrary, { maxLength: 6 }),
  watching: fc.array(changeArbitrary, { maxLength: 6 }),
  readBy: fc.nat(1),
  watchedBy: fc.nat(1),
  /** Whether the points have a position of their own; that of the list is valid for both. */
  several: fc.boolean(),
});
type Schedule = typeof scheduleArbitrary extends fc.Arbitrary<infer S> ? S : never;
type Change = Schedule["before"][number];

/** Watching from the positions of reads, on one store with two cores. */
export function watchReadsContract(open: OpenStores, schedules: number): void {
  const bench = useStores(open);
  const core = (): Promise<CoreUnderTest> => buildCore(bench.under, { waveMs: 1 });

  it("H15 with any changes before, during and after the read nothing is missing, and nothing old is repeated", async () => {
    // Nothing wakes the other, as where it is another process.
    const journal = withWakeUps(bench.journal, () => 0);
    const other = await buildCore({ ...bench.under, journal }, { waveMs: 1, pollMs: 5 });
    const cores = [await core(), other] as const;
    await fc.assert(
      fc.asyncProperty(scheduleArbitrary, (schedule) => follow(cores, schedule)),
      { numRuns: schedules },
    );
  });

  it("H15 a change between a read and its watch is sent, at this core and at the other", async () => {
    const [here, there] = [await core(), await core()];
    const id = await makeRun(here);
    await write(here, id, { series: [numbers("a", [1])] });
    const position = here.positions.now();
    await write(here, id, { series: [numbers("a", [2], 1)] });
    await touch(here, id, "x", "1");
    for (const at of [here, there]) {
      const reader = await WatchReader.open(at, { runs: ALL_RUNS, series: [seriesOf(id)], position });
      expect(flat((await reader.next("points")).series).map(({ value }) => value)).toEqual([2]);
      expect((await reader.next("runs")).runs.map(({ run }) => run.tags.get("x"))).toEqual(["1"]);
      await reader.leave();
    }
  });

  it("H15 several positions begin at the earliest, whatever their order", async () => {
    const built = await core();
    const id = await makeRun(built);
    const since: string[] = [];
    for (let i = 0; i < 4; i++) {
      since.push(built.positions.now());
      await write(built, id, { series: [numbers("a", [i], i)] });
    }
    const first = async (request: { position?: string; since: string[] }): Promise<unknown> => {
      const reader = await WatchReader.open(built, { series: [seriesOf(id)], ...request });
      const [point] = flat((await reader.next("points")).series);
      await reader.leave();
      return point!.value;
    };
    expect(await first({ since: since.slice(1) })).toBe(1);
    expect(await first({ since: since.slice(1).toReversed() })).toBe(1);
    expect(await first({ position: since[3]!, since: [since[2]!] })).toBe(2);
    expect(await first({ position: since[0]!, since: since.slice(2) })).toBe(0);
  });

  it("H4, H15 a client that disconnects right after `started` resumes from its position, also when it was behind", async () => {
    const built = await core();
    const id = await makeRun(built);
    const since = [built.positions.now()];
    await touch(built, id, "x", "1");
    const begun = await WatchReader.open(built, { runs: ALL_RUNS, since });
    await begun.leave();
    const again = await WatchReader.open(built, { runs: ALL_RUNS, position: begun.position });
    expect((await again.next("runs")).runs.map(({ run }) => run.id)).toEqual([id]);
    await again.leave();
    for (const foreign of [{ position: "ab12cd34ef56.5.5" }, { since: [...since, "ab12cd34ef56.5.5"] }]) {
      const lost = await WatchReader.open(built, { runs: ALL_RUNS, ...foreign });
      await lost.leave();
      const behind = await WatchReader.open(built, { runs: ALL_RUNS, position: lost.position });
      expect(await behind.next("behind")).toMatchObject({ what: ["runs"] });
      await behind.leave();
    }
  });
}

async function list(built: CoreUnderTest, namespace: string): Promise<[string, string | undefined][]> {
  const asked = { query: "", namespace, trashed: false, pageSize: 0, pageToken: "", columns: ["tags"] };
  const { runs } = await built.runs.search(CALLER, asked);
  return runs.map(({ run }) => [run.id, run.tags.get("n")]);
}

async function pointsOf(built: CoreUnderTest, id: string): Promise<number[]> {
  const series = [{ run: { by: "id", id } as const, key: "a", labels: [] }];
  const read = await built.metrics.read(CALLER, { ...EXACT, series });
  return read.series.flatMap(({ data }) =>
    data.form === "exact" ? Array.from(data.points.values.data, Number) : [],
  );
}

async function follow(cores: readonly [CoreUnderTest, CoreUnderTest], schedule: Schedule): Promise<void> {
  // Of its own: the store has the runs of other schedules too.
  const namespace = `lab-${randomUUID()}`;
  const ids = await Promise.all(Array.from({ length: RUNS }, () => makeRun(cores[0], namespace)));
  const written = new Map<string, number[]>(ids.map((id) => [id, []]));
  const underWay = new Set<Promise<unknown>>();
  const acknowledged = new Set<number>();
  let count = 0;
  const change = async ({ do: what, run, core: at }: Change): Promise<void> => {
    const [built, id, n] = [cores[at]!, ids[run]!, count++];
    if (what === "create") await touch(built, await makeRun(built, namespace), "n", String(n));
    else if (what === "tag") await touch(built, id, "n", String(n));
    else {
      written.get(id)!.push(n);
      await write(built, id, { series: [numbers("a", [n], n)] });
      acknowledged.add(n);
    }
  };
  const make = async (changes: readonly Change[]): Promise<void> => {
    for (const one of changes) {
      const made = change(one).finally(() => underWay.delete(made));
      underWay.add(made);
      if (one.wait) await made;
    }
  };
  await make(schedule.before);

  const reading = cores[schedule.readBy]!;
  const old = new Set(acknowledged);
  const since = [reading.positions.now()];
  const listing = list(reading, namespace);
  const making = make(schedule.during);
  const runs = new Map(await listing);
  if (schedule.several) since.push(reading.positions.now());
  const points = new Map<string, Set<number>>();
  for (const id of ids) points.set(id, new Set(await pointsOf(reading, id)));
  await making;
  await make(schedule.between);

  const reader = await WatchReader.open(cores[schedule.watchedBy]!, {
    runs: { ...ALL_RUNS, namespace, columns: ["tags"] },
    series: ids.map((id) => seriesOf(id)),
    since,
  });
  await make(schedule.watching);
  await Promise.all(underWay);
  // The last changes of all: by then the others have arrived. A run may be sent in a later state, but only one that is known to
  // have changed is sent.
  for (const id of ids) await write(cores[0], id, { series: [numbers("end", [1])] });
  const last = await makeRun(cores[0], namespace);
  const received = new Set<number>();
  const ended = new Set<string>();
  const take = (event: WatchEvent): void => {
    if (event.kind === "points") {
      for (const { key, value } of flat(event.series)) {
        if (key === "end") ended.add(event.runId);
        if (key !== "a") continue;
        expect(received).not.toContain(value);
        received.add(value as number);
        points.get(event.runId)!.add(value as number);
      }
    } else if (event.kind === "runs") {
      for (const { run } of event.runs) runs.set(run.id, run.tags.get("n"));
      for (const id of event.left) runs.delete(id);
    } else throw new Error(`unexpected event: ${JSON.stringify(event)}`);
  };
  while (ended.size < RUNS || !runs.has(last)) take(await reader.any());
  await reader.leave();
  for (const n of old) expect(received).not.toContain(n);
  expect(runs).toEqual(new Map(await list(cores[1], namespace)));
  for (const id of ids) expect(points.get(id)).toEqual(new Set(written.get(id)));
}
