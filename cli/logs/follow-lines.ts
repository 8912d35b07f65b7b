import type { LogLine, TailLogResponse } from "#proto/cairn/v1/log_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { followStream, type Connection } from "#sdk/follow-stream.ts";
import { afterDamage, type LineSelection } from "./read-lines.ts";

/** After this long a user at a terminal should see that the server is unavailable. */
const PATIENCE_MS = 15 * 60_000;

export interface FollowLinesOptions {
  /** The number of the first line. */
  from: bigint;
  signal: AbortSignal;
  /** Called once when the connection is lost, and once when it is back. */
  onBreak(cause: string): void;
  onResume(): void;
}

/**
 * Lines as they arrive, until the run has ended and all of them have come. After a lost connection it continues with
 * the next number, so that no line is missing or repeated. Of a search only the filter applies here.
 */
export async function* followLines(
  server: Cairn,
  { runId, filter, note }: LineSelection,
  { from, signal, onBreak, onResume }: FollowLinesOptions,
): AsyncGenerator<LogLine[]> {
  let next = from;
  async function* open(ended: AbortSignal): AsyncGenerator<TailLogResponse> {
    for (;;) {
      try {
        const request = { run: { id: runId }, filter, from: next };
        for await (const answer of server.logs.tailLog(request, { signal: ended, timeoutMs: 0 })) {
          yield answer;
          next = answer.next;
        }
        return;
      } catch (thrown) {
        next = afterDamage(thrown, next, note);
      }
    }
  }
  let isLost = false;
  const onConnection = ({ state, failure }: Connection) => {
    if (failure !== undefined && !isLost) onBreak(failure.message);
    if (state === "live" && isLost) onResume();
    isLost = state === "lost";
  };
  for await (const { lines } of followStream(server.url, open, {
    signal,
    patienceMs: PATIENCE_MS,
    onConnection,
  })) {
    if (lines.length > 0) yield lines;
  }
}
