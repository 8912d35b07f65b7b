import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import type { WatchEvent, WatchRequestSchema } from "#proto/cairn/v1/watch_pb.ts";
import type { Clients } from "#wire/connect/testing/ways.ts";

export type WatchInit = MessageInitShape<typeof WatchRequestSchema>;
type News = WatchEvent["event"];
type NewsOf<C extends News["case"]> = Extract<News, { case: C }>["value"];

/** An open watch. Events are taken one at a time; heartbeats are skipped. */
export class Watching {
  readonly #stop = new AbortController();
  readonly #events: AsyncIterator<WatchEvent>;
  position = "";

  constructor(client: Clients["watch"], request: WatchInit, options: CallOptions = {}) {
    this.#events = client.watch(request, { ...options, signal: this.#stop.signal })[Symbol.asyncIterator]();
  }

  /** Resolves when the server has confirmed the watch. */
  static async open(
    client: Clients["watch"],
    request: WatchInit,
    options: CallOptions = {},
  ): Promise<Watching> {
    const watching = new Watching(client, request, options);
    await watching.next("started");
    return watching;
  }

  /** The next event, which must be of this kind. */
  async next<C extends Exclude<News["case"], undefined>>(kind: C): Promise<NewsOf<C>> {
    const { event } = await this.any();
    if (event.case !== kind)
      throw new Error(`expected ${kind}, got ${event.case}: ${JSON.stringify(event, plain)}`);
    return event.value as NewsOf<C>;
  }

  /** The next event of any kind. */
  async any(): Promise<WatchEvent> {
    for (;;) {
      const { done, value } = await this.#events.next();
      if (done === true) throw new Error("the stream has ended");
      this.position = value.position;
      if (value.event.case !== "still") return value;
    }
  }

  /** Disconnects the client. */
  stop(): void {
    this.#stop.abort();
  }
}

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
