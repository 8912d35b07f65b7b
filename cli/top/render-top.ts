import { table, type Column } from "../output/table.ts";
import { formatNumber, formatCount } from "#lang/words/numbers.ts";
import { cut, padEnd, paint, printable, widthOf } from "../output/text.ts";
import { statusMark } from "../output/status-mark.ts";
import { formatAgo, formatDuration } from "#lang/words/times.ts";
import { sparkline } from "../show/sparkline.ts";
import { renderDetails } from "./render-details.ts";
import type { TopRow } from "./top-row.ts";
import type { TopState } from "./top-state.ts";

export interface TopLook {
  columns: number;
  rows: number;
  colour: boolean;
  unicode: boolean;
  colourDepth: number;
  nowMs: number;
}

const TITLES = ["   run", "age", "step", "steps/s", "seen"] as const;
/** Between two columns of a table. */
const GAP = 2;
/** Approximate width of the columns that are not metrics; a wider terminal may have room for a second metric. */
const FIXED_COLUMNS = 48;
/** Longer names are cut before sparklines are. */
const NAME_MAX = 32;
const SPARK_MAX = 40;
const KEY_MAX = 24;
const SPARK_MIN = 6;
const METRIC_COLUMNS_MIN = 30;
/** Runs without a heartbeat for longer than this are highlighted. */
const QUIET_MS = 60_000;

const HELP: readonly string[] = [
  "  ↑ ↓  j k         select a run            g G  first, last",
  "  enter            its details; again: back to the list",
  "  tab  ← →  h l    in the details: another metric",
  "  /                filter by name, namespace or tag; escape clears it",
  "  s                sort by age, name, step, pace, value, last activity",
  "  r                reverse the order",
  "  ctrl-l           redraw the screen",
  "  q                quit",
];

/** The whole screen, line by line. */
export function renderTop(state: TopState, look: TopLook): string[] {
  const body =
    state.view === "help"
      ? ["", ...HELP]
      : state.view === "details" && state.selected !== undefined
        ? renderDetails(state.selected, state.metricAt, { ...look, rows: look.rows - 3 })
        : listLines(state, look);
  const height = look.rows - 2;
  const filled = [
    ...body.slice(0, height),
    ...Array.from({ length: Math.max(0, height - body.length) }, () => ""),
  ];
  return [titleLine(state, look), ...filled, statusLine(state, look)];
}

function titleLine(state: TopState, { columns, colour, nowMs }: TopLook): string {
  const running = [...state.rows.values()].filter(({ isRunning }) => isRunning).length;
  const more = state.matching > running ? ` of ${formatCount(state.matching)}` : "";
  const order = `by ${state.sort}${state.reversed ? ", reversed" : ""}`;
  const title = `cairn top · ${formatCount(running)}${more} running · ${order}`;
  const clock = new Date(nowMs).toTimeString().slice(0, 8);
  const gap = " ".repeat(Math.max(1, columns - widthOf(title) - clock.length));
  return paint(colour, "bold", cut(title, columns)) + gap + paint(colour, "dim", clock);
}

function statusLine(state: TopState, { columns, colour }: TopLook): string {
  if (state.typing) return cut(`/${printable(state.filter)}▏`, columns);
  if (state.trouble !== "") {
    return paint(colour, "yellow", cut(`connection lost, retrying: ${state.trouble}`, columns));
  }
  const filter = state.filter === "" ? "" : `filter "${printable(state.filter)}" · `;
  const keys =
    state.view === "details"
      ? "tab another metric · ↑↓ another run · enter back · q back"
      : "↑↓ select · enter details · / filter · s sort · ? help · q quit";
  return paint(colour, "dim", cut(filter + keys, columns));
}

/** Title and rows; the selected one stays visible. */
function listLines(state: TopState, look: TopLook): string[] {
  const rows = state.visible();
  if (rows.length === 0) return ["", `  ${emptyText(state)}`];
  const [head, ...lines] = topTable(rows, look, state.selectedId);
  const room = Math.max(1, look.rows - 4);
  const at = Math.max(
    0,
    rows.findIndex(({ run }) => run.id === state.selectedId),
  );
  const from = Math.min(Math.max(0, at - room + 1), Math.max(0, lines.length - room));
  const below = lines.length - from - room;
  const more = below > 0 ? [paint(look.colour, "dim", `  and ${formatCount(below)} more`)] : [];
  return [head!, ...lines.slice(from, from + room), ...more];
}

function emptyText(state: TopState): string {
  if (state.filter !== "" && state.rows.size > 0) return "no run matches the filter; / and escape clear it";
  return state.trouble === "" ? "nothing is running" : "";
}

/** The table: its head, then one line per run. */
export function topTable(rows: readonly TopRow[], look: TopLook, selectedId?: string): string[] {
  const { columns, colour, nowMs } = look;
  const metricCount = columns - FIXED_COLUMNS >= 2 * METRIC_COLUMNS_MIN ? 2 : 1;
  const metrics = Array.from({ length: metricCount }, (_, i) => metricCells(rows, i));
  const cells = rows.map((row) => [
    nameCell(row, row.run.id === selectedId, colour),
    formatDuration(Math.max(0, nowMs / 1000 - Number(row.run.startedUs) / 1e6)).split(" ")[0]!,
    row.step === undefined ? "-" : formatCount(row.step),
    row.pace === undefined ? "-" : formatNumber(row.pace),
    seenCell(row, nowMs, colour),
  ]);
  // Sparklines get the remaining width.
  const wordWidths = metrics.map((column) => widest(column.map(({ words }) => words)));
  const taken = TITLES.reduce(
    (sum, title, i) => sum + Math.min(NAME_MAX, widest([title, ...cells.map((row) => row[i]!)])) + GAP,
    wordWidths.reduce((sum, width) => sum + width + 1 + GAP, -GAP),
  );
  const spark = Math.min(SPARK_MAX, Math.max(SPARK_MIN, Math.floor((columns - taken) / metricCount)));
  const [name, age, step, pace, seen] = TITLES.map((title) => ({ title, align: "right" as const }));
  const heads: Column[] = [
    { title: name!.title, shrink: true, minWidth: 14 },
    age!,
    step!,
    pace!,
    ...metrics.map((_, i) => ({ title: i === 0 ? "metric" : "", shrink: true, minWidth: 10 })),
    seen!,
  ];
  const lines = cells.map((row, at) => {
    const drawn = metrics.map((column, i) => metricText(column[at]!, wordWidths[i]!, spark, look));
    return row.toSpliced(-1, 0, ...drawn);
  });
  return table(heads, lines, { colour, columns }).split("\n");
}

function nameCell({ run, isRunning }: TopRow, selected: boolean, colour: boolean): string {
  const [mark] = statusMark(run.status, colour).split(" ");
  const name = printable(run.name);
  const shown = selected
    ? paint(colour, ["bold", "inverse"], name)
    : isRunning
      ? name
      : paint(colour, "dim", name);
  return `${selected ? ">" : " "}${mark} ${shown}`;
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
}

interface MetricCell {
  words: string;
  history: { columns(width: number): number[] } | undefined;
}

function metricCells(rows: readonly TopRow[], at: number): MetricCell[] {
  const keys = rows.map((row) => row.shown(at + 1)[at]);
  const keyWidth = Math.min(KEY_MAX, widest(keys.map((key) => printable(key ?? ""))));
  return rows.map((row, i) => {
    const key = keys[i];
    if (key === undefined) return { words: "", history: undefined };
    const { history } = row.keys.get(key)!;
    const value = history.pointCount === 0 ? "" : formatNumber(history.last);
    return { words: `${padEnd(cut(printable(key), KEY_MAX), keyWidth)} ${value}`, history };
  });
}

function metricText(
  { words, history }: MetricCell,
  width: number,
  spark: number,
  { colour, unicode }: TopLook,
): string {
  if (history === undefined) return "";
  const bars = unicode ? paint(colour, "cyan", sparkline(history.columns(spark))) : "";
  return `${padEnd(words, width)} ${bars}`;
}

function seenCell({ seenMs, isRunning }: TopRow, nowMs: number, colour: boolean): string {
  const text = formatAgo(seenMs * 1000, nowMs).replace(" ago", "");
  return isRunning && nowMs - seenMs > QUIET_MS ? paint(colour, "yellow", text) : text;
}
