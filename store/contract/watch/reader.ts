import type { Caller } from "#core/access/caller.ts";
import type { RunEnvelope } from "#core/types/envelope.ts";
import { DEFAULT_STREAM, EVERY_LINE, type LogFilter, type LogLines } from "#core/types/log.ts";
import type { Labels, Points } from "#core/types/series.ts";
import type { WatchEvent, WatchNews, WatchRequest } from "#core/watch/event.ts";
import { asked, CALLER, type CoreUnderTest } from "../core-under-test.ts";

export const READER: Caller = { ...CALLER, permission: "read" };

export function watchRequest(request: Partial<WatchRequest> = {}): WatchRequest {
  return { runs: undefined, series: [], logs: [], position: "", since: [], ...request };
}

/** Every run. */
export const ALL_RUNS = { query: "", namespace: "", columns: [] };

export function seriesOf(id: string, glob = ""): WatchRequest["series"][number] {
  return { run: { by: "id", id }, glob };
}

export function logOf(
  id: string,
  from?: number,
  filter: Partial<LogFilter> = {},
): WatchRequest["logs"][number] {
  return { run: { by: "id", id }, filter: { ...EVERY_LINE, ...filter }, from };
}

/** A watcher that reads one event at a time. Keep-alives are skipped. */
export class WatchReader {
  readonly #stop = new AbortController();
  readonly #events: AsyncGenerator<WatchEvent>;
  position = "";

  constructor(core: CoreUnderTest, request: Partial<WatchRequest>, caller: Caller = READER) {
    this.#events = core.watches.watch(caller, watchRequest(request), this.#stop.signal);
  }

  /** Once the watch has started. */
  static async open(
    core: CoreUnderTest,
    request: Partial<WatchRequest>,
    caller: Caller = READER,
  ): Promise<WatchReader> {
    const reader = new WatchReader(core, request, caller);
    await reader.next("started");
    return reader;
  }

  async any(): Promise<WatchEvent> {
    for (;;) {
      const { done, value } = await this.#events.next();
      if (done === true) throw new Error("the watch has ended");
      this.position = value.position;
      if (value.kind !== "still") return value;
    }
  }

  /** The next event, which must be of this kind. */
  async next<K extends WatchNews["kind"]>(kind: K): Promise<Extract<WatchEvent, { kind: K }>> {
    const event = await this.any();
    if (event.kind !== kind) throw new Error(`expected ${kind}, got ${JSON.stringify(event)}`);
    return event as Extract<WatchEvent, { kind: K }>;
  }

  /** The next events, each of another kind: which comes first depends on timing. */
  async nextOfEach<K extends WatchNews["kind"]>(
    ...kinds: K[]
  ): Promise<{ [P in K]: Extract<WatchEvent, { kind: P }> }> {
    const events: WatchEvent[] = [];
    for (const _ of kinds) events.push(await this.any());
    const found = Object.fromEntries(events.map((event) => [event.kind, event]));
    if (!kinds.every((kind) => kind in found)) {
      throw new Error(`expected ${kinds.join(", ")}, got ${JSON.stringify(events)}`);
    }
    return found as { [P in K]: Extract<WatchEvent, { kind: P }> };
  }

  /** Requests an event and disconnects before it arrives. */
  async leaveAsking(): Promise<void> {
    const event = this.#events.next().catch(() => undefined);
    await this.leave();
    await event;
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#events.return(undefined).catch(() => undefined);
  }

  /** Like a client that vanishes while an event is being sent: no further read, and no abort. */
  vanish(): void {
    this.#stop.abort();
  }
}

/** Creates a run and returns its id. */
export async function makeRun({ runs }: CoreUnderTest, namespace = "lab"): Promise<string> {
  return (await runs.create(CALLER, asked({ namespace }))).run.id;
}

export function write({ ingest }: CoreUnderTest, id: string, parts: Partial<RunEnvelope>): Promise<unknown> {
  return ingest.write(CALLER, {
    run: { by: "id", id },
    writer: "",
    seq: 0,
    series: [],
    change: undefined,
    lost: [],
    ...parts,
  });
}

export function touch(core: CoreUnderTest, id: string, tag: string, value: string): Promise<unknown> {
  return core.runs.update(CALLER, { by: "id", id }, { tags: new Map([[tag, value]]) });
}

export function lines(...texts: string[]): LogLines[] {
  const bytes = texts.map((text) => Buffer.from(text));
  return [
    {
      origin: "process",
      stream: DEFAULT_STREAM,
      rank: undefined,
      times: undefined,
      lengths: Uint32Array.from(bytes, ({ length }) => length),
      text: Buffer.concat(bytes),
    },
  ];
}

/** Points one by one, in the order they came. */
export function flat(
  series: readonly { key: string; labels: Labels; pieces: readonly Points[] }[],
): { key: string; labels: Labels; step: unknown; time: unknown; nano: unknown; value: unknown }[] {
  return series.flatMap(({ key, labels, pieces }) =>
    pieces.flatMap(({ count, steps, times, nanos, values }) =>
      Array.from({ length: count }, (_, i) => ({
        key,
        labels,
        step: steps?.[i],
        time: times?.[i],
        nano: nanos?.[i],
        value: values.data[i],
      })),
    ),
  );
}
