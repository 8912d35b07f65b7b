/** Random schedules of changes, disconnects and reads, with a client that knows only received events. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect } from "vitest";
import type { FoundRun } from "#core/runs/found-runs.ts";
import type { WatchEvent, WatchRequest } from "#core/watch/event.ts";
import { CALLER, type CoreUnderTest } from "../core-under-test.ts";
import { numbers, refused } from "../stores.ts";
import { flat, lines, logOf, makeRun, seriesOf, touch, WatchReader, write } from "./reader.ts";

const RUNS = 4;
const COLUMNS = ["tags", "metrics.a.last"];
const QUERY = 'tags.in = "yes" and not tags.out = "yes"';

type Step =
  /** A change, with or without waiting for the answer. */
  | {
      do: "points" | "lines" | "both" | "tag" | "create" | "trash" | "purge";
      run: number;
      yes: boolean;
      wait: boolean;
    }
  /** The watcher reads so many events. */
  | { do: "take"; events: number }
  /** The watcher disconnects, perhaps while an event is being made that it never gets, and reconnects. */
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

/** The state of a client from events alone, and the acknowledged state. */
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
      runs: { query: QUERY, namespace: this.#namespace, columns: COLUMNS },
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
        for (const found of event.runs) this.#matching.set(found.run.id, textOf(found));
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

  hasAll(expected: ReadonlyMap<string, { points: unknown[]; lines: string[] }>): boolean {
    return [...expected].every(([id, { points, lines: texts }]) => {
      const known = this.knows(id);
      return (
        known.points.length >= points.length &&
        known.lines.length >= texts.length &&
        this.#matching.get(id)?.includes('["end","yes"]') === true
      );
    });
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

export const steps: fc.Arbitrary<Step[]> = fc.array(stepArbitrary, { maxLength: 30 });

/** At the end the client must have the stored state, and every point and line once. */
export async function follow(core: CoreUnderTest, schedule: readonly Step[]): Promise<void> {
  // Of its own: the store has the runs of other schedules too.
  const namespace = `lab-${randomUUID()}`;
  const runs = await Promise.all(Array.from({ length: RUNS }, () => makeRun(core, namespace)));
  const more: string[] = [];
  const expected = new Map(runs.map((id) => [id, { points: [] as number[], lines: [] as string[] }]));
  const client = new Client(core, namespace, runs);
  await client.connect();
  const underWay: Promise<unknown>[] = [];
  let count = 0;
  const say = async (id: string, points: boolean, log: boolean): Promise<void> => {
    const value = count++;
    const known = expected.get(id)!;
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
  for (const step of schedule) {
    if (step.do === "reconnect") await client.reconnect(step.asking);
    else if (step.do === "take") {
      for (let i = 0; i < step.events; i++) {
        // So that there is something to read.
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
  while (!client.hasAll(expected)) await client.take();
  for (const id of runs) expect(client.knows(id)).toEqual(expected.get(id));
  expect(client.matching).toEqual(await findMatching(core, namespace));
  await client.leave();
}

/** What the client should know of the runs that match. */
async function findMatching(core: CoreUnderTest, namespace: string): Promise<Map<string, string>> {
  const { runs } = await core.runs.search(CALLER, {
    query: QUERY,
    namespace,
    trashed: false,
    pageSize: 0,
    pageToken: "",
    columns: COLUMNS,
  });
  return new Map(runs.map((found) => [found.run.id, textOf(found)]));
}

function textOf({ run, metrics }: FoundRun): string {
  return JSON.stringify([[...run.tags].toSorted(byKey), [...metrics]]);
}
