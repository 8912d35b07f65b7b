import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { WatchEvent, WatchRequest } from "#core/watch/event.ts";
import { buildCore, CALLER, type CoreUnderTest } from "../core-under-test.ts";
import { numbers, refused, useStores, type OpenStores } from "../stores.ts";
import { flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";

const RUNS = 4;
const QUERY = 'tags.in = "yes" and not tags.out = "yes"';

type Step =
  /** Somebody changes something, and waits for the answer or does not. */
  | {
      do: "points" | "lines" | "both" | "tag" | "create" | "trash" | "purge";
      run: number;
      yes: boolean;
      wait: boolean;
    }
  /** The watcher takes so many events. */
  | { do: "take"; events: number }
  /** The watcher goes away, perhaps while an event is being made that it never sees, and comes back. */
  | { do: "reconnect"; asking: boolean };

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("points", "lines", "both", "tag", "create", "trash", "purge"),
      run: fc.nat(RUNS - 1),
      yes: fc.boolean(),
      wait: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("take"), events: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("reconnect"), asking: fc.boolean() }) },
);

/** What a client knows from events alone, and what was acknowledged in truth. */
class Client {
  readonly #core: CoreUnderTest;
  readonly #namespace: string;
  readonly #runs: readonly string[];
  readonly #matching = new Map<string, string | undefined>();
  readonly #points = new Map<string, unknown[]>();
  readonly #lines = new Map<string, string[]>();
  readonly #next = new Map<string, number>();
  #reader: WatchReader | undefined;
  #position = "";

  constructor(core: CoreUnderTest, namespace: string, runs: readonly string[]) {
    this.#core = core;
    this.#namespace = namespace;
    this.#runs = runs;
  }

  async connect(): Promise<void> {
    const request: Partial<WatchRequest> = {
      runs: { query: QUERY, namespace: this.#namespace, columns: ["tags", "metrics.a.last"] },
      series: this.#runs.map((id) => seriesOf(id, "a")),
      logs: this.#runs.map((id) => logOf(id, this.#next.get(id))),
      position: this.#position,
    };
    this.#reader = await WatchReader.open(this.#core, request);
    this.#position = this.#reader.position;
    for (const id of this.#next.size === 0 ? this.#runs : []) {
      expect(await this.take()).toMatchObject({ kind: "lines", runId: id, lines: [] });
    }
  }

  async reconnect(asking: boolean): Promise<void> {
    if (asking) await this.#reader!.leaveAsking();
    else await this.#reader!.leave();
    await this.connect();
  }

  async take(): Promise<WatchEvent> {
    const event = await this.#reader!.any();
    this.#position = event.position;
    switch (event.kind) {
      case "runs":
        for (const { run, metrics } of event.runs) {
          this.#matching.set(run.id, JSON.stringify([[...run.tags].toSorted(byKey), [...metrics]]));
        }
        for (const id of event.left) this.#matching.delete(id);
        break;
      case "points": {
        const known = this.#points.get(event.runId) ?? [];
        known.push(...flat(event.series).map(({ value }) => value));
        this.#points.set(event.runId, known);
        break;
      }
      case "lines": {
        const known = this.#lines.get(event.runId) ?? [];
        for (const { number, text } of event.lines) {
          expect(number).toBe(known.length);
          known.push(text);
        }
        this.#lines.set(event.runId, known);
        expect(event.next).toBe(known.length);
        this.#next.set(event.runId, event.next);
        break;
      }
      default:
        throw new Error(`unexpected event: ${JSON.stringify(event)}`);
    }
    return event;
  }

  knows(id: string): { points: readonly unknown[]; lines: readonly string[] } {
    return { points: this.#points.get(id) ?? [], lines: this.#lines.get(id) ?? [] };
  }

  get matching(): ReadonlyMap<string, string | undefined> {
    return this.#matching;
  }

  leave(): Promise<void> {
    return this.#reader!.leave();
  }
}

function byKey([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}

export function watchResumeContract(open: OpenStores, schedules: number): void {
  const bench = useStores(open);

  it("H4 after any breaks nothing is missing, no point and no line comes twice, and the runs are as they are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 30 }), async (steps) => {
        await follow(await buildCore(bench.under, { waveMs: 1 }), steps);
      }),
      { numRuns: schedules },
    );
  });

  it("H4 goes on in the middle of points of many runs", async () => {
    const built = await buildCore(bench.under, { waveMs: 1 });
    const ids = await Promise.all(Array.from({ length: 5 }, () => makeRun(built)));
    const request = { series: ids.map((id) => seriesOf(id)) };
    let reader = await WatchReader.open(built, request);
    await Promise.all(ids.map((id, i) => write(built, id, { series: [numbers("a", [i])] })));
    const seen: unknown[] = [];
    for (let i = 0; i < ids.length; i++) {
      const { runId, series } = await reader.next("points");
      seen.push([runId, ...flat(series).map(({ value }) => value)]);
      // More comes for those that were told already, while others still wait.
      await write(built, ids[0]!, { series: [numbers("b", [i], i)] });
      await reader.leaveAsking();
      const { position } = reader;
      if (i === 2) {
        // Points of other runs do not begin in the middle of these.
        const other = await WatchReader.open(built, { series: [seriesOf(ids[4]!)], position });
        expect(await other.next("behind")).toMatchObject({ what: ["series"] });
        await other.leave();
      }
      reader = await WatchReader.open(built, { ...request, position });
    }
    expect(seen).toEqual(ids.map((id, i) => [id, i]));
    const { runId, series } = await reader.next("points");
    expect([runId, flat(series).map(({ value }) => value)]).toEqual([ids[0], [0, 1, 2, 3, 4]]);
    await reader.leave();
  });

  it("H1, H4: what happened while nobody watched comes at once, without another change", async () => {
    const built = await buildCore(bench.under, { waveMs: 1 });
    const id = await makeRun(built);
    const view = { query: `id = "${id}"`, namespace: "", columns: [] };
    const runs = await WatchReader.open(built, { runs: view });
    const first = runs.next("runs");
    await touch(built, id, "x", "1");
    await first;
    await runs.leave();
    await touch(built, id, "x", "2");
    const again = await WatchReader.open(built, { runs: view, position: runs.position });
    const [told] = (await again.next("runs")).runs;
    expect(told!.run.tags.get("x")).toBe("2");
    await again.leave();
    await (await WatchReader.open(built, { logs: [logOf(id, 0)] })).leaveAsking();
    await write(built, id, { log: lines("zero") });
    const log = await WatchReader.open(built, { logs: [logOf(id, 0)] });
    expect(await log.next("lines")).toMatchObject({ lines: [{ number: 0, text: "zero" }], next: 1 });
    await log.leave();
  });

  it("H4 goes on without a gap where nothing was said while nobody watched, however long that was", async () => {
    const built = await buildCore(bench.under, { waveMs: 1 });
    const [quiet, loud] = [await makeRun(built), await makeRun(built)];
    const { changes } = built;
    await write(built, quiet, { series: [numbers("a", [1])] });
    const reader = await WatchReader.open(built, { series: [seriesOf(quiet)] });
    await reader.leave();
    await write(built, loud, { series: [numbers("a", [1])] });
    // As after the time for which points are kept.
    changes.points.expire(performance.now() + 3_600_000);
    const again = await WatchReader.open(built, { series: [seriesOf(quiet)], position: reader.position });
    await write(built, quiet, { series: [numbers("a", [2], 1)] });
    expect(flat((await again.next("points")).series).map(({ value }) => value)).toEqual([2]);
    await again.leave();
    changes.points.expire(performance.now() + 3_600_000);
    await write(built, quiet, { series: [numbers("a", [3], 2)] });
    const kept = await WatchReader.open(built, { series: [seriesOf(quiet)], position: again.position });
    expect(flat((await kept.next("points")).series).map(({ value }) => value)).toEqual([3]);
    await kept.leave();
    changes.points.expire(performance.now() + 3_600_000);
    await bench.under.settle();
    const late = await WatchReader.open(built, { series: [seriesOf(quiet)], position: again.position });
    expect(await late.next("behind")).toMatchObject({ what: ["series"] });
    await late.leave();
  });
}

async function follow(core: CoreUnderTest, steps: readonly Step[]): Promise<void> {
  // Of its own: the store has the runs of other schedules too.
  const namespace = `lab-${randomUUID()}`;
  const runs = await Promise.all(Array.from({ length: RUNS }, () => makeRun(core, namespace)));
  const more: string[] = [];
  const told = new Map(runs.map((id) => [id, { points: [] as number[], lines: [] as string[] }]));
  const client = new Client(core, namespace, runs);
  await client.connect();
  const underWay: Promise<unknown>[] = [];
  let count = 0;
  const say = async (id: string, points: boolean, log: boolean): Promise<void> => {
    const value = count++;
    const known = told.get(id)!;
    if (points) known.points.push(value);
    if (log) known.lines.push(`line ${value}`);
    await write(core, id, {
      series: points ? [numbers("a", [value], value), numbers("b", [value], value)] : [],
      ...(log && { log: lines(`line ${value}`) }),
    });
  };
  const change = async (step: Extract<Step, { run: number }>): Promise<void> => {
    const id = runs[step.run]!;
    const ref = { by: "id", id: more[step.run % Math.max(more.length, 1)] ?? "0".repeat(32) } as const;
    const maybe = (done: Promise<unknown>): Promise<unknown> =>
      done.catch((thrown: unknown) =>
        expect([refused("not-found"), refused("precondition")]).toContainEqual(thrown),
      );
    switch (step.do) {
      case "create": {
        const made = await makeRun(core, namespace);
        more.push(made);
        await maybe(touch(core, made, step.yes ? "in" : "out", "yes"));
        return;
      }
      case "tag":
        await touch(core, id, step.yes ? "in" : "out", step.run % 2 === 0 ? "yes" : "no");
        return;
      case "trash":
        await maybe(step.yes ? core.runs.delete(CALLER, ref) : core.runs.restore(CALLER, ref));
        return;
      case "purge":
        await maybe(core.runs.purge(CALLER, ref));
        return;
      default:
        await say(id, step.do !== "lines", step.do !== "points");
    }
  };
  for (const step of steps) {
    if (step.do === "reconnect") await client.reconnect(step.asking);
    else if (step.do === "take") {
      for (let i = 0; i < step.events; i++) {
        // So that there is something to take.
        await say(runs[0]!, true, false);
        await client.take();
      }
    } else {
      const changed = change(step);
      if (step.wait) await changed;
      else underWay.push(changed);
    }
  }
  await Promise.all(underWay);
  for (const id of runs) {
    await touch(core, id, "in", "yes");
    await touch(core, id, "out", "no");
    await say(id, true, true);
    await touch(core, id, "end", "yes");
  }
  const isDone = (): boolean =>
    runs.every((id) => {
      const { points, lines: texts } = client.knows(id);
      const truth = told.get(id)!;
      return (
        points.length >= truth.points.length &&
        texts.length >= truth.lines.length &&
        client.matching.get(id)?.includes('["end","yes"]') === true
      );
    });
  while (!isDone()) await client.take();
  for (const id of runs) expect(client.knows(id)).toEqual(told.get(id));
  const found = await core.runs.search(CALLER, {
    query: QUERY,
    namespace,
    trashed: false,
    pageSize: 0,
    pageToken: "",
    columns: ["tags", "metrics.a.last"],
  });
  const truth = found.runs.map(({ run, metrics }): [string, string] => [
    run.id,
    JSON.stringify([[...run.tags].toSorted(byKey), [...metrics]]),
  ]);
  expect(client.matching).toEqual(new Map(truth));
  await client.leave();
}
