import { byteLength } from "#base/byte-length.ts";
import { limits } from "#lang/limits.ts";
import { findField } from "#lang/query/field-text.ts";
import { andCondition } from "#lang/query/draft/and-condition.ts";
import { splitOrder } from "#lang/query/draft/order.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WatchRequestSchema } from "#proto/cairn/v1/watch_pb.ts";
import type { RunsView, Subscription } from "./types.ts";

/**
 * Merges the subscriptions of all pages into one request: one query for runs, any number of runs with their points, and
 * any number of logs.
 *
 * Views of runs are joined by `or`. With one view, events have the runs of that view. With several, an event only names the changed runs, and each view is searched for
 * them (see hub.ts).
 */
export interface Merged {
  request: MessageInitShape<typeof WatchRequestSchema>;
  /** Whether the runs in an event are those of the only view. */
  isSole: boolean;
  /** Subscriptions that do not fit into the request. */
  leftOut: ReadonlySet<number>;
  isEmpty: boolean;
}

/** Of series, and of logs. */
export const WATCHED_MAX = Math.min(limits.watchSeriesMax, limits.watchLogsMax);
const EVERY_RUN = "id is not null";
/** An empty list would mean all params and tags. */
const CHEAP_COLUMN = "aliases";

/** `gone` are runs that do not exist any more: naming one would make the whole request fail. */
export function mergeSubscriptions(
  wanted: ReadonlyMap<number, Subscription>,
  gone: ReadonlySet<string> = new Set(),
): Merged {
  const views = new Map<string, RunsView>();
  const watched = new Set<string>();
  const logs = new Map<string, bigint>();
  const leftOut = new Set<number>();
  let changes = false;
  for (const [id, subscription] of wanted) {
    switch (subscription.kind) {
      case "runs":
        views.set(viewKey(subscription), subscription);
        break;
      case "changes":
        changes = true;
        break;
      case "series": {
        const added = subscription.runIds.filter((runId) => !gone.has(runId) && !watched.has(runId));
        if (watched.size + added.length > WATCHED_MAX) leftOut.add(id);
        else for (const runId of added) watched.add(runId);
        break;
      }
      case "log": {
        if (gone.has(subscription.runId)) break;
        const known = logs.get(subscription.runId);
        if (known === undefined && logs.size >= WATCHED_MAX) leftOut.add(id);
        else if (known === undefined || subscription.from < known)
          logs.set(subscription.runId, subscription.from);
        break;
      }
    }
  }
  const runs = mergeViews([...views.values()], changes);
  const series = Array.from(watched, (id) => ({ run: { id } }));
  return {
    request: {
      ...(runs && { runs }),
      series,
      logs: [...logs].map(([id, from]) => ({ run: { id }, from })),
    },
    isSole: views.size === 1,
    leftOut,
    isEmpty: runs === undefined && series.length === 0 && logs.size === 0,
  };
}

export function viewKey({ query, namespace, columns }: RunsView): string {
  return JSON.stringify([query, namespace, columns]);
}

function mergeViews(views: readonly RunsView[], changes: boolean) {
  const [first, ...others] = views;
  if (first === undefined) return changes ? { query: "", namespace: "", columns: [CHEAP_COLUMN] } : undefined;
  if (others.length === 0 && !changes) {
    return { query: first.query, namespace: first.namespace, columns: [...first.columns] };
  }
  // A subscription to all changes includes those outside of the namespace.
  const query = [...new Set(views.map(asCondition))].join(" or ");
  // Columns that each view reads again need not be sent, but with metrics among the columns points count as changes.
  const columns =
    others.length === 0
      ? [...first.columns]
      : [
          CHEAP_COLUMN,
          ...new Set(views.flatMap((view) => view.columns.filter((c) => findField(c)?.of === "metric"))),
        ];
  const fits = byteLength(query) <= limits.queryBytesMax;
  return { query: fits ? query : EVERY_RUN, namespace: "", columns };
}

function asCondition({ query, namespace }: RunsView): string {
  // Conditions joined by `or` have no order.
  const { condition } = splitOrder(query);
  if (namespace !== "") return andCondition(condition, { op: "under", path: namespace });
  return condition === "" ? EVERY_RUN : condition;
}

/** A query that finds those of the given runs that the view selects. */
export function queryAmong({ query }: RunsView, ids: readonly string[]): string {
  return andCondition(splitOrder(query).condition, {
    op: "in",
    field: { of: "run", name: "id" },
    values: ids,
  });
}
