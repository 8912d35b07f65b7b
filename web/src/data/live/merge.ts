import { byteLength } from "#base/byte-length.ts";
import { limits } from "#lang/limits.ts";
import { findField } from "#lang/query/field-text.ts";
import { splitOrder } from "#lang/query/draft/order.ts";
import { quoteList, quoteText } from "#lang/query/quote.ts";
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

/** The limit of the server. */
export const WATCHED_MAX = 1_000;
const EVERY_RUN = "id is not null";
/** An empty list would mean all params and tags. */
const CHEAP_COLUMN = "aliases";

/** `gone` are runs that do not exist any more: naming one would make the whole request fail. */
export function mergeSubscriptions(
  wanted: ReadonlyMap<number, Subscription>,
  gone: ReadonlySet<string> = new Set(),
): Merged {
  const views = new Map<string, RunsView>();
  const globs = new Map<string, Set<string>>();
  const logs = new Map<string, bigint>();
  const leftOut = new Set<number>();
  let changes = false;
  let selectors = 0;
  for (const [id, subscription] of wanted) {
    switch (subscription.kind) {
      case "runs":
        views.set(viewKey(subscription), subscription);
        break;
      case "changes":
        changes = true;
        break;
      case "series": {
        const { runIds, glob } = subscription;
        const added = runIds.filter((runId) => !gone.has(runId) && globs.get(runId)?.has(glob) !== true);
        if (selectors + added.length > WATCHED_MAX) {
          leftOut.add(id);
          break;
        }
        selectors += added.length;
        for (const runId of added) globs.set(runId, (globs.get(runId) ?? new Set()).add(glob));
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
  const series = [...globs].flatMap(([id, some]) => [...some].map((glob) => ({ run: { id }, glob })));
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
  // An order cannot stand in parentheses.
  const { condition } = splitOrder(query);
  const parts = [
    ...(condition === "" ? [] : [`(${condition})`]),
    ...(namespace === "" ? [] : [`namespace under ${quoteText(namespace)}`]),
  ];
  return parts.length === 0 ? EVERY_RUN : parts.join(" and ");
}

/** A query that finds those of the given runs that the view selects. */
export function queryAmong({ query }: RunsView, ids: readonly string[]): string {
  // An order cannot stand in parentheses.
  const { condition } = splitOrder(query);
  const among = `id in ${quoteList(ids)}`;
  return condition === "" ? among : `(${condition}) and ${among}`;
}

/**
 * Whether a key matches, as on the server: "*" stops at "/", "**" does not, "?" is one character. An empty glob matches all. The time is at most length of glob times
 * length of key, for any glob in a link.
 */
export function globMatcher(glob: string): (key: string) => boolean {
  if (glob === "") return () => true;
  const tokens = glob.match(/\*+|[^]/gu) ?? [];
  return (key) => {
    const letters = Array.from(key);
    // Whether the tokens so far match the first n letters, for each n.
    let fits = [true, ...letters.map(() => false)];
    for (const token of tokens) {
      const next = [token.startsWith("*") && fits[0]!];
      for (const [at, letter] of letters.entries()) {
        if (token.startsWith("*"))
          next.push(fits[at + 1]! || (next[at]! && (token.length > 1 || letter !== "/")));
        else next.push(fits[at]! && (token === "?" || token === letter));
      }
      fits = next;
    }
    return fits.at(-1)!;
  };
}
