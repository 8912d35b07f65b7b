import { formatNumber } from "#lang/words/numbers.ts";
import { cut, padEnd, paint, printable, widthOf } from "../output/text.ts";
import { statusMark } from "../output/status-mark.ts";
import { formatAgo, formatTime } from "#lang/words/times.ts";
import { countOf } from "#lang/words/numbers.ts";
import { renderChart } from "../plot/chart.ts";
import { chartStyle } from "../plot/style.ts";
import type { TopLook } from "./render-top.ts";
import type { TopRow } from "./top-row.ts";

const PARAMS_SHOWN = 12;
const MORE_KEYS = "not all metrics are followed here; `cairn show` lists them";
const CHART_ROWS_MIN = 4;
/** Lines of a chart that are not dots: title, axis, its labels, legend. */
const CHART_FRAME = 4;

/** One run: who it is, what it was started with, its metrics, and a chart of one of them. */
export function renderDetails(row: TopRow, metricAt: number, look: TopLook): string[] {
  const { run } = row;
  const { colour, columns, nowMs } = look;
  const keys = row.shown(Infinity);
  const drawable = keys.filter((key) => row.keys.get(key)!.isWhole);
  const selected = drawable.length === 0 ? undefined : drawable.at(metricAt % drawable.length);
  const params = Object.entries(run.params)
    .slice(0, PARAMS_SHOWN)
    .map(([key, text]) => printable(`${key}=${text}`));
  const tags = Object.entries(run.tags).map(([key, value]) => printable(`${key}:${value}`));
  const head = [
    "",
    `${statusMark(run.status, colour)}  ${paint(colour, "bold", printable(run.name))}  ${paint(colour, "dim", run.id)}`,
    paint(
      colour,
      "dim",
      `in ${printable(run.namespace)} · started ${formatTime(run.startedUs)} (${formatAgo(run.startedUs, nowMs)})`,
    ),
    ...wrapped("params  ", params, columns, 3),
    ...wrapped("tags    ", tags, columns, 1),
    ...wrapped(
      "last    ",
      keys.map((key) => `${printable(key)} ${formatNumber(row.keys.get(key)!.history.last)}`),
      columns,
      3,
    ),
    ...(row.hasMoreKeys ? [paint(colour, "dim", cut(`        ${MORE_KEYS}`, columns))] : []),
    "",
  ];
  const rows = look.rows - head.length - CHART_FRAME;
  if (selected === undefined || rows < CHART_ROWS_MIN) return head;
  return [...head, ...chartLines(row, selected, rows, look)];
}

function chartLines(row: TopRow, key: string, rows: number, look: TopLook): string[] {
  const { history, labels } = row.keys.get(key)!;
  const points = countOf(history.pointCount, "point");
  const chart = {
    title: printable(key),
    remark: "",
    axis: "step" as const,
    log: false,
    lines: [
      {
        name: printable(labels === "" ? row.run.name : labels),
        marks: history.marks(),
        form: history.isExact ? `exact, ${points}` : `band of ${points}`,
        missing: "",
      },
    ],
  };
  const style = chartStyle({ unicode: look.unicode, colour: look.colour, colourDepth: look.colourDepth });
  return renderChart(chart, { columns: look.columns, rows }, style);
}

/** Items side by side, on at most so many lines. */
function wrapped(title: string, items: readonly string[], columns: number, linesMax: number): string[] {
  if (items.length === 0) return [];
  const lines: string[] = [];
  let line = title;
  for (const item of items) {
    const fits = widthOf(line) + widthOf(item) + 3 <= columns;
    if (!fits && line.trim() !== title.trim()) {
      lines.push(line);
      line = " ".repeat(title.length);
    }
    line += `${line.length === title.length ? "" : "   "}${item}`;
    if (lines.length === linesMax)
      return [...lines.slice(0, -1), padEnd(cut(`${lines.at(-1)!}   …`, columns), 0)];
  }
  return [...lines, cut(line, columns)];
}
