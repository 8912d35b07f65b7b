import { useMutation } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { Button } from "../../../widgets/button.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { LogBar } from "./log-bar.tsx";
import { LogList } from "./log-list.tsx";
import styles from "./logs.module.css";
import { filterOf, findTrouble, isFiltered, type LogView } from "./log-search.ts";
import { isGoingOn } from "#sdk/run-facts.ts";
import type { RunSearch } from "../search.ts";
import { useLogBook, useMatches } from "./use-log.ts";

const route = getRouteApi("/r/$run");
const COPIED_MAX = 10_000;

/** The log of the run: all lines, or the matches of a search; new ones as they arrive. */
export function LogsTab({ run }: { run: Run }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { book, isOpen, error, retry } = useLogBook(run.id);
  const view: LogView = search;
  const filtered = isFiltered(view);
  const found = useMatches(run.id, filtered ? view : undefined, book.total);
  const [follow, setFollow] = useState(() => isGoingOn(run) && search.line === undefined);
  // The list scrolls itself; the router would reset it.
  const set = (change: Partial<Record<keyof RunSearch, unknown>>, replace = false) =>
    void navigate({ resetScroll: false, search: (now) => ({ ...now, ...change }) as RunSearch, replace });
  const trouble = useMutation({
    mutationFn: () => findTrouble(run.id, filterOf(view) as LogView, (search.line ?? -1) + 1),
    onSuccess: (line) => {
      if (line === undefined) return;
      setFollow(false);
      set({ line, find: undefined, re: undefined });
    },
  });
  const lineOf = (index: number) => (filtered ? found.lines[index] : book.lineAt(index));
  const count = filtered ? found.lines.length : book.total;
  return (
    <div className={styles.logs}>
      <LogBar
        search={search}
        ranks={[...book.ranks].sort((a, b) => a - b)}
        streams={[...book.streams].sort()}
        follow={follow}
        isLooking={trouble.isPending}
        onChange={set}
        onFollow={setFollow}
        onTrouble={() => trouble.mutate()}
        copied={() => lastTexts(count, lineOf)}
      />
      {trouble.isSuccess && trouble.data === undefined && (
        <NoTrouble line={search.line} onRestart={() => set({ line: undefined })} />
      )}
      {trouble.error !== null && <ErrorNote error={trouble.error} onRetry={() => trouble.mutate()} />}
      {error !== undefined && <ErrorNote error={error} onRetry={retry} />}
      {filtered && found.state === "failed" && <ErrorNote error={found.error} onRetry={found.goOn} />}
      {!isOpen && error === undefined && <Skeleton lines={14} />}
      {isOpen && book.total === 0 && <NoLines goesOn={isGoingOn(run)} />}
      {isOpen && count > 0 && (
        <LogList
          count={count}
          lineOf={lineOf}
          numberOf={(index) => (filtered ? Number(found.lines[index]!.number) : index)}
          {...(!filtered && {
            onRange: (first: number, last: number) => book.want(first, last),
            errorAt: (index: number) => book.errorAt(index),
          })}
          version={filtered ? found.lines.length : book.version}
          wrap={search.wrap === true}
          find={search.re === true ? "" : (search.find ?? "")}
          chosen={search.line}
          follow={follow}
          onFollow={setFollow}
          onChoose={(line) =>
            set(
              filtered
                ? { line, find: undefined, re: undefined, rank: undefined, stream: undefined }
                : { line },
              !filtered,
            )
          }
          onRetry={() => book.retry()}
        />
      )}
      {isOpen && filtered && count === 0 && found.state === "done" && (
        <EmptyState title="No matches">None of {formatCount(book.total)} lines matches.</EmptyState>
      )}
      {isOpen && book.total > 0 && <LogFoot total={book.total} found={filtered ? found : undefined} />}
    </div>
  );
}

/** The text to copy: the last lines, as far as they are loaded. */
function lastTexts(count: number, lineOf: (index: number) => { text: string } | undefined): string[] {
  const first = Math.max(0, count - COPIED_MAX);
  return Array.from({ length: count - first }, (_, i) => lineOf(first + i)?.text).filter(
    (text) => text !== undefined,
  );
}

function NoLines({ goesOn }: { goesOn: boolean }) {
  return (
    <EmptyState title="No lines yet">
      {goesOn
        ? "They appear here as the run writes them."
        : "This run has no log, or it was not sent to this server."}
    </EmptyState>
  );
}

function NoTrouble({ line, onRestart }: { line: number | undefined; onRestart: () => void }) {
  return (
    <p className={styles.note} role="status">
      No error or traceback {line === undefined ? "in this log" : "after this line"}.
      {line !== undefined && <Button onClick={onRestart}>Search from the beginning</Button>}
    </p>
  );
}

/** How many lines there are, and how many of them were found. */
function LogFoot({ total, found }: { total: number; found: ReturnType<typeof useMatches> | undefined }) {
  if (found === undefined)
    return (
      <div className={styles.foot} role="status">
        <span>{formatCount(total)} lines</span>
      </div>
    );
  return (
    <div className={styles.foot} role="status">
      <span>
        {`${formatCount(found.lines.length)}${found.state === "done" ? "" : "+"} of ${formatCount(total)} lines`}
      </span>
      {found.state === "reading" && <span>searching, at line {formatCount(found.next)} …</span>}
      {found.state === "cut" && <Button onClick={found.goOn}>Continue the search</Button>}
    </div>
  );
}
