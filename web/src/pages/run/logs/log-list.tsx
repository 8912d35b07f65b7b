import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useLayoutEffect, useRef } from "react";
import type { LogLine } from "#proto/cairn/v1/log_pb.ts";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { ansiPieces } from "./ansi.ts";
import { highlight } from "./highlight.ts";
import styles from "./logs.module.css";

const LINE_PX = 18;
/** Browsers limit heights to some 30 million pixels: of a longer log the end is shown. */
const LINES_MAX = 1_500_000;
const NEAR_END_PX = 40;

interface LogListProps {
  count: number;
  lineOf: (index: number) => LogLine | undefined;
  numberOf: (index: number) => number;
  onRange?: (first: number, last: number) => void;
  errorAt?: (index: number) => unknown;
  version: number;
  wrap: boolean;
  find: string;
  /** The number of the line that a link points to. */
  chosen: number | undefined;
  follow: boolean;
  onFollow: (follow: boolean) => void;
  onChoose: (number: number) => void;
  onRetry: () => void;
}

/** The visible lines of a log, which may have a million. */
export function LogList({
  count,
  lineOf,
  numberOf,
  onRange,
  errorAt,
  version,
  wrap,
  find,
  chosen,
  follow,
  onFollow,
  onChoose,
  onRetry,
}: LogListProps) {
  const box = useRef<HTMLDivElement>(null);
  const base = Math.max(0, count - LINES_MAX);
  const shown = count - base;
  const virtual = useVirtualizer({
    count: shown,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_PX,
    overscan: 30,
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => onRange?.(base + first, base + last), [base, first, last, version, onRange]);
  useScrolling(virtual, { shown, base, chosen, follow, isWhole: onRange !== undefined });
  const onWheel = (deltaY: number) => {
    const element = box.current;
    if (element === null) return;
    if (deltaY < 0 && follow) onFollow(false);
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    if (deltaY > 0 && isAtEnd && !follow && onRange !== undefined) onFollow(true);
  };
  const digits = String(numberOf(count - 1)).length;
  return (
    <div
      ref={box}
      className={wrap ? `${styles.lines} ${styles.wrap}` : styles.lines}
      role="log"
      aria-label="Log lines"
      aria-live="off"
      tabIndex={0}
      onWheel={(event) => onWheel(event.deltaY)}
      onKeyDown={({ key }) => {
        if (key === "ArrowUp" || key === "PageUp" || key === "Home") onFollow(false);
      }}
    >
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map(({ index, start, key }) => {
          const at = base + index;
          const error = errorAt?.(at);
          const line = lineOf(at);
          const number = numberOf(at);
          return (
            <div
              key={key}
              ref={wrap ? virtual.measureElement : undefined}
              data-index={index}
              className={number === chosen ? `${styles.line} ${styles.chosen}` : styles.line}
              style={{ transform: `translateY(${start}px)` }}
            >
              <LineNumber number={number} digits={digits} onChoose={onChoose} />
              {line !== undefined && <Line line={line} find={find} />}
              {line === undefined && error !== undefined && index === first && (
                <ErrorNote error={error} onRetry={onRetry} />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Scrolls to the end in follow mode, to the chosen line, and at first to the end of a finished log. */
function useScrolling(
  virtual: { scrollToIndex: (index: number, options: { align: "center" | "end" }) => void },
  {
    shown,
    base,
    chosen,
    follow,
    isWhole,
  }: {
    shown: number;
    base: number;
    chosen: number | undefined;
    follow: boolean;
    /** Whether all lines are listed, so that the index of a line is its number. */
    isWhole: boolean;
  },
): void {
  useLayoutEffect(() => {
    if (follow && shown > 0) virtual.scrollToIndex(shown - 1, { align: "end" });
  }, [follow, shown, virtual]);
  useEffect(() => {
    if (chosen === undefined) return;
    if (isWhole) virtual.scrollToIndex(Math.max(0, Math.min(shown - 1, chosen - base)), { align: "center" });
    // Only when another line is chosen.
  }, [chosen]);
  useEffect(() => {
    if (chosen === undefined && !follow && isWhole && shown > 0)
      virtual.scrollToIndex(shown - 1, { align: "end" });
  }, []);
}

function LineNumber({
  number,
  digits,
  onChoose,
}: {
  number: number;
  digits: number;
  onChoose: (number: number) => void;
}) {
  return (
    <button
      type="button"
      className={styles.number}
      style={{ width: `${digits + 2}ch` }}
      tabIndex={-1}
      aria-label={`Link to line ${number}`}
      onClick={() => onChoose(number)}
    >
      {number}
    </button>
  );
}

const Line = memo(function Line({ line, find }: { line: LogLine; find: string }) {
  const time = new Date(Number(line.timeUs / 1_000n));
  return (
    <>
      <time className={styles.time} dateTime={time.toISOString()} title={time.toLocaleString()}>
        {time.toLocaleTimeString("en-GB")}
      </time>
      {line.rank !== undefined && <span className={styles.rank}>{line.rank}</span>}
      <span className={line.stream === "stderr" ? `${styles.text} ${styles.stderr}` : styles.text}>
        {ansiPieces(line.text).map(({ text, colour, bold }, i) => (
          <span
            key={i}
            className={
              [colour !== undefined && styles[`ansi${colour}`], bold && styles.bold]
                .filter(Boolean)
                .join(" ") || undefined
            }
          >
            {highlight(text, find).map((part, j) =>
              part.isMatch ? <mark key={j}>{part.text}</mark> : part.text,
            )}
          </span>
        ))}
      </span>
    </>
  );
});
