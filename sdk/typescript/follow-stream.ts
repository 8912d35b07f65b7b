import { Code } from "@connectrpc/connect";
import { Failure } from "./failure.ts";
import { Attempts } from "./retry.ts";

/** On a stream a server sends something every 15 s, if only to show that the connection is alive: three are missing. */
const SILENCE_MS_MAX = 45_000;
/** The precision of `heardMs` for a caller. */
const HEARD_MS_MIN = 1_000;

/** Times are by Date.now(). */
export interface Connection {
  /** "lost" until data comes again. */
  state: "connecting" | "live" | "lost";
  /** When data last came; 0 for never. */
  heardMs: number;
  /** Since when it is lost, and why the last attempt failed. Only while it is lost. */
  lostMs?: number;
  failure?: Failure;
}

export interface FollowOptions {
  /** Ends it: its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** How long to retry when the connection is lost; without it, forever. */
  patienceMs?: number | undefined;
  /** Called when the state changes, after each attempt that failed, and once a second at most while data comes. */
  onConnection?: ((connection: Connection) => void) | undefined;
  /** After that long without data the connection counts as lost. */
  silenceMsMax?: number | undefined;
}

/**
 * The messages of a stream of the server, across lost connections, restarts and silence. `open` makes a new stream that
 * continues where the last one ended, and ends it with the signal; a message is processed when the next one is asked
 * for. Ends when a stream ends, and with a Failure where another attempt would not help.
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
        connection.received();
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
  return new Failure(Code.Unavailable, `no data from ${url} for ${silenceMsMax / 1000} s`, {
    reason: "SILENT",
  });
}

class ConnectionState {
  readonly #onChange: (connection: Connection) => void;
  #shown: Connection = { state: "connecting", heardMs: 0 };
  #heardMs = 0;

  constructor(onChange: (connection: Connection) => void = () => {}) {
    this.#onChange = onChange;
    onChange(this.#shown);
  }

  received(): void {
    this.#heardMs = Date.now();
    const { state, heardMs } = this.#shown;
    if (state === "live" && this.#heardMs - heardMs < HEARD_MS_MIN) return;
    this.#change({ state: "live", heardMs: this.#heardMs });
  }

  lose(failure: Failure): void {
    // The server only wants to check the rights again.
    if (failure.reason === "ACCESS_CHANGED") return;
    const lostMs = this.#shown.lostMs ?? Date.now();
    this.#change({ state: "lost", heardMs: this.#heardMs, lostMs, failure });
  }

  #change(connection: Connection): void {
    this.#shown = connection;
    this.#onChange(connection);
  }
}
