import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { SeriesKind } from "#core/types/series.ts";
import type { AddedPoints, WatchEvent, WatchRequest } from "#core/watch/event.ts";
import { SeriesPointsSchema, type SeriesPoints } from "#proto/cairn/v1/metric_pb.ts";
import {
  WatchEventSchema,
  type WatchEvent as EventMessage,
  type WatchRequest as RequestMessage,
} from "#proto/cairn/v1/watch_pb.ts";
import { fromLogLine, toLogFilter } from "./log.ts";
import { fromMap, toInteger } from "./map.ts";
import { fromRun, toRunRef } from "./run.ts";
import { KINDS } from "./series.ts";

export function toWatchRequest({ runs, series, logs, position, since }: RequestMessage): WatchRequest {
  return {
    runs: runs && { query: runs.query, namespace: runs.namespace, columns: runs.columns },
    series: series.map(({ run, glob }) => ({ run: toRunRef(run), glob })),
    logs: logs.map(({ run, filter, from }) => ({
      run: toRunRef(run),
      filter: toLogFilter(filter),
      from: from === undefined ? undefined : toInteger(from, "line number"),
    })),
    position,
    since,
  };
}

export function fromWatchEvent(event: WatchEvent): EventMessage {
  return create(WatchEventSchema, { position: event.position, event: newsOf(event) });
}

type News = NonNullable<MessageInitShape<typeof WatchEventSchema>["event"]>;

function newsOf(event: WatchEvent): News {
  switch (event.kind) {
    case "started":
      return { case: "started", value: {} };
    case "runs": {
      const runs = event.runs.map(({ run, metrics }) => fromRun(run, metrics));
      return { case: "runs", value: { runs, left: [...event.left] } };
    }
    case "points":
      return {
        case: "points",
        value: { runId: event.runId, series: event.series.map(fromAddedPoints) },
      };
    case "lines": {
      const { runId, lines, next } = event;
      return { case: "lines", value: { runId, lines: lines.map(fromLogLine), next: BigInt(next) } };
    }
    case "behind":
      return { case: "behind", value: { what: [...event.what] } };
    case "still":
      return { case: "still", value: {} };
  }
}

/** The pieces one after another, in the columns of the message that a writer sends. */
function fromAddedPoints({ key, labels, pieces }: AddedPoints): SeriesPoints {
  const kind: SeriesKind = pieces[0]!.values.kind;
  const message = create(SeriesPointsSchema, { key, labels: fromMap(new Map(labels)), kind: KINDS[kind] });
  for (const { steps, times, nanos, values } of pieces) {
    for (const step of steps ?? []) message.steps.push(BigInt(step));
    for (const time of times ?? []) message.timesUs.push(BigInt(time));
    for (const nano of nanos ?? []) message.nanos.push(nano);
    switch (values.kind) {
      case "number":
        for (const value of values.data) message.values.push(value);
        break;
      case "integer":
        for (const value of values.data) message.integers.push(value);
        break;
      case "bool":
        for (const value of values.data) message.bools.push(value !== 0);
        break;
      case "text":
        for (const value of values.data) message.texts.push(value);
        break;
    }
  }
  return message;
}
