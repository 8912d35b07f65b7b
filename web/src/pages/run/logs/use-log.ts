import { useEffect, useMemo, useReducer, useRef, useState } from "react";
import type { LogLine } from "#proto/cairn/v1/log_pb.ts";
import { useLive } from "../../../data/live/hooks.ts";
import { cairn } from "../../../data/server.ts";
import { LogBook } from "./log-book.ts";
import { MATCHES_MAX, readMatches, type LogView } from "./log-search.ts";
import { useAtMostEvery } from "../use-at-most-every.ts";

/** New lines are searched at most this often. */
const NEW_EVERY_MS = 400;

export interface WholeLog {
  book: LogBook;
  isOpen: boolean;
  error: unknown;
  retry: () => void;
}

/** The log of a run, with new lines as they arrive. */
export function useLogBook(runId: string): WholeLog {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const book = useMemo(
    () => new LogBook((from, limit) => cairn.logs.readLog({ run: { id: runId }, from, limit }), redraw),
    [runId],
  );
  const [opened, setOpened] = useState<{ book: LogBook; next: bigint }>();
  const [error, setError] = useState<unknown>();
  const [tries, retry] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let isOver = false;
    setError(undefined);
    book.open().then(
      (next) => {
        if (isOver) return;
        setOpened({ book, next });
        // Ranks and streams are offered as they are seen: the beginning often has more of them than the end.
        book.want(0, 0);
      },
      (thrown: unknown) => {
        if (!isOver) setError(thrown);
      },
    );
    return () => {
      isOver = true;
    };
  }, [book, tries]);
  const isOpen = opened?.book === book;
  useLive(isOpen ? { kind: "log", runId, from: opened.next } : undefined, "", (event) => {
    if (event.kind === "lines") book.append(event.lines);
    if (event.kind === "stale") retry();
    if (event.kind === "refused") setError(new Error(`cannot follow the log: ${event.message}`));
  });
  return { book, isOpen, error, retry };
}

export interface Found {
  lines: readonly LogLine[];
  state: "reading" | "done" | "cut" | "failed";
  /** How far the search has come. */
  next: number;
  error: unknown;
  goOn: () => void;
}

interface Looking {
  lines: LogLine[];
  next: bigint;
  state: Found["state"];
  error: unknown;
  /** The search pauses after so many lines, until the user requests more. */
  max: number;
}

function nothingYet(): Looking {
  return { lines: [], next: 0n, state: "reading", error: undefined, max: MATCHES_MAX };
}

/** The lines that a view selects: all up to a limit, and those that come later. `total` is how long the log is. */
export function useMatches(runId: string, view: LogView | undefined, total: number): Found {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const key = view === undefined ? undefined : JSON.stringify([view.find, view.re, view.rank, view.stream]);
  const found = useRef(nothingYet());
  const call = useRef<AbortController>(undefined);
  const read = async (chosen: LogView) => {
    const own = new AbortController();
    call.current?.abort();
    call.current = own;
    const now = found.current;
    now.state = "reading";
    try {
      for (;;) {
        const { lines, next, more } = await readMatches(runId, chosen, now.next, own.signal);
        if (own.signal.aborted) return;
        now.lines = [...now.lines, ...lines];
        if (next > now.next) now.next = next;
        now.state = now.lines.length >= now.max ? "cut" : more ? "reading" : "done";
        redraw();
        if (now.state !== "reading") return;
      }
    } catch (thrown) {
      if (own.signal.aborted) return;
      now.state = "failed";
      now.error = thrown;
      redraw();
    } finally {
      if (call.current === own) call.current = undefined;
    }
  };
  useEffect(() => {
    if (view === undefined) return undefined;
    found.current = nothingYet();
    redraw();
    void read(view);
    return () => call.current?.abort();
    // The key identifies the view.
  }, [runId, key]);
  const readNew = useAtMostEvery(NEW_EVERY_MS, () => {
    const { state, next } = found.current;
    if (view !== undefined && state === "done" && next < BigInt(total) && call.current === undefined)
      void read(view);
  });
  useEffect(readNew, [total, found.current.state]);
  const { lines, next, state, error } = found.current;
  const goOn = () => {
    found.current.max = found.current.lines.length + MATCHES_MAX;
    if (view !== undefined) void read(view);
    redraw();
  };
  return { lines, next: Number(next), state, error, goOn };
}
