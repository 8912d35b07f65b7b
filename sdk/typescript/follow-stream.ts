import { Code } from "@connectrpc/connect";
import { Failure } from "./failure.ts";
import { Attempts } from "./retry.ts";

/** On a stream a server sends something every 15 s, if only to show that the connection is alive: three are missing. */
const SILENCE_MS_MAX = 45_000;
/** How exactly a caller learns when something last came. */
const HEARD_MS_MIN = 1_000;

/** Times are by Date.now(). */
export interface Connection {
  /** "lost" until something comes again. */
  state: "connecting" | "live" | "lost";
  /** When something last came; 0 for never. */
  heardMs: number;
  /** Since when it is lost, and why the last attempt failed. Only while it is lost. */
  lostMs?: number;
  failure?: Failure;
}

export interface FollowOptions {
  /** Ends it: its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** How long to try again when the connection is lost; without it, for ever. */
  patienceMs?: number | undefined;
  /** Called when the state changes, after each attempt that failed, and once a second at most while something comes. */
  onConnection?: ((connection: Connection) => void) | undefined;
  /** After so much silence the connection counts as lost. */
  silenceMsMax?: number | undefined;
}

/**
 * What a stream of the server brings, over lost connections, restarts and silence. `open` makes a new stream that goes
 * on where the last one ended, and ends it when the signal says so; what a stream brings has been taken when it is asked
 * for more. Ends when a stream ends, and with a Failure where another attempt would not help.
 *
 * Only the signal ends it while it waits: `return()` of a generator waits for what comes next.
 */
export async function* followStream<T>(
  url: string,
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { signal, patienceMs, onConnection, silenceMsMax = SILENCE_MS_MAX }: FollowOptions = {},
): AsyncGenerator<T, void> {
  const connection = new ConnectionState(onConnection);
  const onFailure = (failure: Failure) => connection.lose(failure);
  const attempts = new Attempts({ signal, patienceMs, url, onFailure });
  for (;;) {
    const call = new AbortController();
    const ended = signal === undefined ? call.signal : AbortSignal.any([signal, call.signal]);
    const listen = () => setTimeout(() => call.abort(), silenceMsMax);
    let silence = listen();
    try {
      for await (const item of open(ended)) {
        clearTimeout(silence);
        attempts.progressed();
        connection.hear();
        yield item;
        silence = listen();
      }
      return;
    } catch (thrown) {
      await attempts.wait(call.signal.aborted ? silent(url, silenceMsMax) : thrown);
    } finally {
      clearTimeout(silence);
      call.abort();
    }
  }
}

function silent(url: string, silenceMsMax: number): Failure {
  return new Failure(Code.Unavailable, `nothing came from ${url} for ${silenceMsMax / 1000} s`, {
    reason: "SILENT",
  });
}

class ConnectionState {
  readonly #tell: (connection: Connection) => void;
  #told: Connection = { state: "connecting", heardMs: 0 };
  #heardMs = 0;

  constructor(tell: (connection: Connection) => void = () => {}) {
    this.#tell = tell;
    tell(this.#told);
  }

  hear(): void {
    this.#heardMs = Date.now();
    const { state, heardMs } = this.#told;
    if (state === "live" && this.#heardMs - heardMs < HEARD_MS_MIN) return;
    this.#say({ state: "live", heardMs: this.#heardMs });
  }

  lose(failure: Failure): void {
    // The server only wants to judge the rights again.
    if (failure.reason === "ACCESS_CHANGED") return;
    const lostMs = this.#told.lostMs ?? Date.now();
    this.#say({ state: "lost", heardMs: this.#heardMs, lostMs, failure });
  }

  #say(connection: Connection): void {
    this.#told = connection;
    this.#tell(connection);
  }
}
