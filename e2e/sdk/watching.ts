import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { watch, type Cairn, type FollowOptions } from "#sdk/browser.ts";

/** The events of a watch. */
export class Watching {
  readonly kinds: string[] = [];
  readonly runs: Run[] = [];
  readonly steps: number[] = [];
  readonly lines: string[] = [];
  /** Kinds that are reported as incomplete. */
  readonly behind = new Set<string>();
  /** Once the watch has started. */
  readonly began: Promise<void>;
  /** Rejects with what it ended with. */
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();

  constructor(cairn: Cairn, request: Parameters<typeof watch>[1], options: FollowOptions) {
    const began = Promise.withResolvers<void>();
    this.began = began.promise;
    this.ended = this.#follow(cairn, request, options, began.resolve);
    // All that wait for one of them see it.
    this.ended.catch(began.reject);
    this.began.catch(() => {});
  }

  stop(reason?: Error): void {
    this.#stop.abort(reason);
  }

  async #follow(
    cairn: Cairn,
    request: Parameters<typeof watch>[1],
    options: FollowOptions,
    onStart: () => void,
  ): Promise<void> {
    const events = watch(cairn, request, { ...options, signal: this.#stop.signal });
    for await (const { event } of events) {
      this.kinds.push(event.case ?? "");
      if (event.case === "started") onStart();
      if (event.case === "runs") this.runs.push(...event.value.runs);
      if (event.case === "points")
        this.steps.push(...event.value.series.flatMap(({ steps }) => steps.map(Number)));
      if (event.case === "lines") this.lines.push(...event.value.lines.map(({ text }) => text));
      if (event.case === "behind") for (const kind of event.value.what) this.behind.add(kind);
    }
  }
}

/** A point and a line of the same number. */
export async function writeStep(cairn: Cairn, id: string, step: number): Promise<void> {
  await cairn.metrics.writeEnvelope({
    run: { id },
    series: [{ key: "x", steps: [BigInt(step)], values: [step] }],
    log: [{ lines: [`line ${step}`] }],
  });
}
