import { clone, create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { WatchRequestSchema, type WatchEvent, type WatchRequest } from "#proto/cairn/v1/watch_pb.ts";
import type { Cairn } from "./client.ts";
import { Failure } from "./failure.ts";
import { followStream, type FollowOptions } from "./follow-stream.ts";

/**
 * What happens to runs, points and log lines, over lost connections and restarts of the server:
 *
 *     const query = 'status = "running"';
 *     const { runs, position } = await cairn.runs.searchRuns({ query });
 *     show(runs);
 *     for await (const { event } of watch(cairn, { runs: { query }, position }, { signal })) {
 *       if (event.case === "runs") show(event.value.runs);
 *       if (event.case === "behind") await readAll();
 *     }
 *
 * - With the `position` of a read, or with those of several as `since`, it begins there: what the answers do not contain
 *   comes as an event, and what changed while they were read may come as well. Without one it begins now: what was read
 *   before may be old by then.
 * - `started` comes once, unless the connection is lost before.
 * - After a lost connection it continues after the last event that was processed, with nothing missing and no point and no
 *   line twice. An event has been processed when the next one is asked for.
 * - `behind` means that more has changed than the server keeps: read again what `what` names.
 * - `still` comes every 15 s when nothing else does.
 * - To change the request, watch again with the `position` of the last event, and per log the last `next` as `from`.
 *
 * It never ends by itself. It throws the reason of the signal, and a Failure for what a retry would not change: an invalid
 * query, no permission, an unknown run, or a server that is away for too long.
 */
export async function* watch(
  cairn: Pick<Cairn, "url" | "watch" | "runs">,
  request: MessageInitShape<typeof WatchRequestSchema>,
  options: FollowOptions = {},
): AsyncGenerator<WatchEvent, void> {
  const wanted = clone(WatchRequestSchema, create(WatchRequestSchema, request));
  let hasStarted = false;
  for await (const event of followStream(cairn.url, (signal) => open(cairn, wanted, signal), options)) {
    const isRepeated = hasStarted && event.event.case === "started";
    hasStarted = true;
    if (!isRepeated) yield event;
    take(event, wanted);
  }
}

async function* open(
  cairn: Pick<Cairn, "watch" | "runs">,
  wanted: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  await nameLogs(cairn, wanted, signal);
  yield* cairn.watch.watch(wanted, { signal, timeoutMs: 0 });
  throw new Failure(Code.Unavailable, "the server has ended the watch");
}

/** Lines come with the id of their run, so each log needs one to continue after its last line. */
async function nameLogs(
  { runs }: Pick<Cairn, "runs">,
  { logs }: WatchRequest,
  signal: AbortSignal,
): Promise<void> {
  const ids = new Set<string>();
  for (const log of logs) {
    if (log.run !== undefined && log.run.id === "") {
      const { id } = await runs.getRun({ run: log.run }, { signal });
      log.run = { ...log.run, id, path: "", alias: "", namespace: "" };
    }
    const id = log.run?.id ?? "";
    if (ids.has(id)) {
      throw new Failure(Code.InvalidArgument, `cannot watch the log of run "${id}" twice`, {
        hint: "watch it once without a filter, or open two watches",
      });
    }
    ids.add(id);
  }
}

/** Where to continue after this event. */
function take({ position, event }: WatchEvent, wanted: WatchRequest): void {
  wanted.position = position;
  wanted.since = [];
  if (event.case !== "lines") return;
  const { runId, next } = event.value;
  const log = wanted.logs.find(({ run }) => run?.id === runId);
  if (log !== undefined) log.from = next;
}
