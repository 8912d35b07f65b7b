import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import type { LogLine } from "#proto/cairn/v1/log_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { afterDamage, type LineSelection } from "./read-lines.ts";

/** The server gives a sign of life every 15 s. */
const SILENCE_MS_MAX = 45_000;
const FIRST_WAIT_MS = 200;
const WAIT_MS_MAX = 3_000;
/** Who looks at a terminal for so long has noticed that the server is away. */
const AWAY_MS_MAX = 15 * 60_000;

export interface FollowOptions {
  /** The number of the first line. */
  from: bigint;
  signal: AbortSignal;
  /** Told once per break, and when it is over. */
  onBreak(cause: string): void;
  onResume(): void;
}

/**
 * Lines as they arrive, until the run has ended and all of them have come. A lost connection is made anew and goes on
 * at the very next number, so that no line is missing and none comes twice. Of a search only the filter holds here.
 */
export async function* followLines(
  server: Cairn,
  { runId, filter, note }: LineSelection,
  { from, signal, onBreak, onResume }: FollowOptions,
): AsyncGenerator<LogLine[]> {
  let next = from;
  let brokenAtMs: number | undefined;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
    const call = new AbortController();
    let watch = setTimeout(() => call.abort(), SILENCE_MS_MAX);
    try {
      const answers = server.logs.tailLog(
        { run: { id: runId }, filter, from: next },
        { signal: AbortSignal.any([signal, call.signal]), timeoutMs: 0 },
      );
      for await (const answer of answers) {
        clearTimeout(watch);
        if (brokenAtMs !== undefined) onResume();
        brokenAtMs = undefined;
        waitMs = FIRST_WAIT_MS;
        if (answer.lines.length > 0) yield answer.lines;
        next = answer.next;
        watch = setTimeout(() => call.abort(), SILENCE_MS_MAX);
      }
      return;
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = Failure.from(thrown, server.url);
      if (failure.reason === "LINES_DAMAGED") {
        next = afterDamage(thrown, next, note);
        continue;
      }
      if (!call.signal.aborted && !isPassing(failure)) throw thrown;
      if (brokenAtMs === undefined) onBreak(failure.message);
      brokenAtMs ??= Date.now();
      if (Date.now() - brokenAtMs > AWAY_MS_MAX) throw thrown;
    } finally {
      clearTimeout(watch);
      call.abort();
    }
    await sleep(waitMs * (0.75 + Math.random() / 2), undefined, { signal });
  }
}

function isPassing({ code, facts }: Failure): boolean {
  if (facts["retry_after_ms"] !== undefined) return true;
  return (
    code === Code.Unavailable ||
    code === Code.DeadlineExceeded ||
    code === Code.Aborted ||
    code === Code.Canceled ||
    // A connection that was cut in the middle of a message.
    code === Code.Unknown ||
    code === Code.DataLoss
  );
}
