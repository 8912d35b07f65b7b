import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { searchRuns } from "#sdk/pages.ts";
import { useLive } from "../live/hooks.ts";
import type { LiveEvent, RunsView } from "../live/types.ts";
import { RunList, type SearchPage } from "./run-list.ts";
import { cairn } from "../server.ts";
import { mayMove } from "./may-move.ts";

const searchPage: SearchPage = ({ query, namespace, columns }, { offset, size }, signal) =>
  searchRuns(cairn, { query, namespace, columns: [...columns], pageSize: size, offset }, { signal });

/** A burst of changes counts as one; thousands of needed rows are read again less often. */
const REFRESH_EVERY_MS = 400;

export interface ShownList {
  /** The last loaded view; undefined before the first answer. */
  list: RunList | undefined;
  /** Of the requested view, which may not be shown yet. */
  failure: unknown;
  isPending: boolean;
  refresh: () => void;
}

/** The runs of a view, live. While another view is loading, the last one stays visible, so that nothing flickers. */
export function useRunList(
  view: RunsView | undefined,
  lookedAt: { current: { from: number; end: number } },
  onChanged: (runIds: string[]) => void,
): ShownList {
  const [list, setList] = useState<RunList>();
  const [failure, setFailure] = useState<unknown>();
  const [isPending, setPending] = useState(true);
  const shown = useRef<RunList>(undefined);
  /** The list of the requested view: shown, or loading. */
  const wanted = useRef<RunList>(undefined);
  const key = view && JSON.stringify(view);

  useEffect(() => {
    if (view === undefined) return undefined;
    const next = new RunList(searchPage, view);
    wanted.current = next;
    setPending(true);
    // Other columns of the same rows: the scroll position stays.
    const isSameRows =
      shown.current?.view.query === view.query && shown.current.view.namespace === view.namespace;
    const { from, end } = isSameRows ? lookedAt.current : { from: 0, end: 0 };
    const stop = next.subscribe(() => {
      if (next.failure !== undefined) {
        setFailure(next.failure);
        setPending(false);
      }
      if (!next.isReady || (!next.isThere(from, end) && next.failure === undefined)) return;
      stop();
      shown.current?.close();
      shown.current = next;
      setList(next);
      setFailure(undefined);
      setPending(false);
    });
    next.look(from, end);
    return () => {
      stop();
      if (shown.current !== next) next.close();
    };
    // The key identifies the view.
  }, [key]);

  useEffect(
    () => () => {
      shown.current?.close();
      shown.current = undefined;
    },
    [],
  );

  useSyncExternalStore(list?.subscribe ?? never, () => list?.version ?? 0);

  const refresh = () => {
    if (wanted.current === undefined) return;
    if (wanted.current === shown.current) void wanted.current.refresh();
    else {
      setFailure(undefined);
      wanted.current.retry();
    }
  };
  const refreshSoon = useRefreshSoon(shown);
  useLive(list && { kind: "runs", ...list.view }, list?.position ?? "", (event) => {
    if (event.kind === "runs") onChanged(event.runs.map(({ id }) => id));
    // The server is reachable again: read the view that could not be read.
    if (event.kind === "stale" && wanted.current !== shown.current) refresh();
    else if (list !== undefined && needsReading(list, event)) refreshSoon();
  });

  const ownFailure = list?.failure;
  return { list, failure: failure ?? ownFailure, isPending, refresh };
}

/** Reads the shown rows again, once for a burst of changes. */
function useRefreshSoon(shown: { current: RunList | undefined }): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    const everyMs = Math.max(REFRESH_EVERY_MS, shown.current?.needed ?? 0);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void shown.current?.refresh();
    }, everyMs);
  };
}

const never = () => () => undefined;

/** Updates rows in place where possible; true if rows may have appeared, disappeared or moved. */
function needsReading(list: RunList, event: LiveEvent): boolean {
  if (event.kind === "stale") return true;
  if (event.kind !== "runs") return false;
  const isKnown = list.patch(event.runs);
  const hasLeft = event.left.some((id) => list.placeOf(id) !== undefined);
  return !isKnown || hasLeft || (event.runs.length > 0 && mayMove(list.view.query));
}
