import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { formatCount, formatNumber } from "#lang/words/numbers.ts";
import { table } from "../output/table.ts";
import { padEnd, paint, printable, widthOf } from "../output/text.ts";
import { statusMark } from "../output/status-mark.ts";
import { fitLine } from "../runs/fit-line.ts";
import { paintPatchLine } from "../show/provenance-lines.ts";
import { verdictOf, type MetricRow } from "./compare-metrics.ts";
import type { DiffRow, RunDiff } from "./compare-runs.ts";

export interface DiffOptions {
  colour: boolean;
  columns: number;
  /** Also what is the same. */
  all: boolean;
}

const NONE = "—";
const PATCH_LINES_MAX = 80;
const ROWS_MAX = 40;
const TIMES_MIN = 10;
const METRIC_ROWS_MAX = 30;

/** What differs, part by part; parts that are the same are only counted. */
export function diffPage(
  runs: readonly Run[],
  diff: RunDiff,
  metrics: readonly MetricRow[],
  options: DiffOptions,
): string[] {
  const { colour } = options;
  const marks = runs.map((_, i) => markOf(i));
  const lines = heads(runs, marks, colour);
  const same: string[] = [];
  const section = (title: string, rows: readonly DiffRow[], body: () => string[]) => {
    if (rows.length === 0) return;
    const different = rows.filter(({ differs }) => differs).length;
    if (different === 0 && !options.all) {
      same.push(title.toLowerCase());
      return;
    }
    const count =
      rows.length === 1 ? "" : `  ${formatCount(different)} of ${formatCount(rows.length)} differ`;
    lines.push("", `${paint(colour, "bold", title)}${paint(colour, "dim", count)}`, ...body());
  };
  section("Params", diff.params, () => rowLines(diff.params, marks, options));
  section("Code", diff.code, () => [
    ...rowLines(diff.code.map(shortCommit), marks, options),
    ...patchLines(diff.patches, marks, options),
  ]);
  section("Command", diff.command, () => commandLines(diff.command, marks, options));
  section("Packages", diff.packages, () => rowLines(diff.packages, marks, options));
  section("Environment", diff.environment, () => rowLines(diff.environment, marks, options));
  section("Tags", diff.tags, () => rowLines(diff.tags, marks, options));
  const asRows = metrics.map(({ name, stat, differs }) => ({ key: `${name} ${stat}`, values: [], differs }));
  section("Metrics", asRows, () => metricLines(metrics, marks, options));
  if (same.length > 0) lines.push("", paint(colour, "dim", `the same: ${same.join(", ")}`));
  return lines.map((line) => fitLine(line, options.columns));
}

/** A, B, …, Z, then numbers. */
function markOf(i: number): string {
  return i < 26 ? String.fromCharCode(65 + i) : String(i + 1);
}

function heads(runs: readonly Run[], marks: readonly string[], colour: boolean): string[] {
  const width = Math.max(...runs.map(({ name }) => widthOf(printable(name))));
  return runs.map((run, i) => {
    const name = paint(colour, "bold", padEnd(printable(run.name), width));
    const place = paint(colour, "dim", `${printable(run.namespace)}  ${run.id.slice(0, 12)}`);
    return `${marks[i]}  ${name}  ${padEnd(statusMark(run.status, colour), 10)}  ${place}`;
  });
}

function rowLines(rows: readonly DiffRow[], marks: readonly string[], options: DiffOptions): string[] {
  const { colour } = options;
  const wanted = rows.filter(({ differs }) => differs || options.all);
  const shown = options.all ? wanted : wanted.slice(0, ROWS_MAX);
  const cells = shown.map(({ key, values, differs }) => [
    paint(colour, differs ? [] : "dim", printable(key)),
    ...values.map((value) => cellOf(value, differs, colour)),
  ]);
  const columns = [
    { title: "", shrink: true, minWidth: 12 },
    ...marks.map((title) => ({ title, shrink: true, minWidth: 8 })),
  ];
  const lines = table(columns, cells, { colour, columns: options.columns - 2 }).split("\n");
  if (shown.length < wanted.length)
    lines.push(`… ${formatCount(wanted.length - shown.length)} more; --all shows them`);
  return lines.map((line) => `  ${line}`);
}

function cellOf(value: string | undefined, differs: boolean, colour: boolean): string {
  if (value === undefined || value === "") return paint(colour, "dim", NONE);
  return differs ? printable(value) : paint(colour, "dim", printable(value));
}

function shortCommit(row: DiffRow): DiffRow {
  if (row.key !== "commit") return row;
  return { ...row, values: row.values.map((value) => value?.slice(0, 12)) };
}

function commandLines(rows: readonly DiffRow[], marks: readonly string[], { colour }: DiffOptions): string[] {
  return rows.flatMap(({ values }) =>
    values.map((value, i) => `  ${paint(colour, "dim", marks[i]!)}  ${cellOf(value, true, colour)}`),
  );
}

function patchLines(
  patches: readonly string[][],
  marks: readonly string[],
  { colour, all }: DiffOptions,
): string[] {
  return patches.flatMap((patch, i) => {
    if (patch.length === 0) return [];
    const shown = all ? patch : patch.slice(0, PATCH_LINES_MAX);
    const left = patch.length - shown.length;
    return [
      `  ${paint(colour, "dim", `uncommitted changes, ${marks[0]} → ${marks[i + 1]}:`)}`,
      ...shown.map((line) => `    ${paintPatchLine(line, colour)}`),
      ...(left > 0 ? [`    … ${formatCount(left)} more lines; --all shows them`] : []),
    ];
  });
}

function metricLines(rows: readonly MetricRow[], marks: readonly string[], options: DiffOptions): string[] {
  const { colour } = options;
  const wanted = rows.filter(({ differs }) => differs || options.all);
  const shown = options.all ? wanted : wanted.slice(0, METRIC_ROWS_MAX);
  const isPair = marks.length === 2;
  const cells = shown.map((row, i) => {
    const best = bestOf(row);
    return [
      shown[i - 1]?.name === row.name ? "" : row.name,
      paint(colour, "dim", row.stat),
      ...row.values.map((value) => {
        if (value === undefined) return paint(colour, "dim", NONE);
        return paint(colour, !isPair && value === best ? "bold" : [], formatNumber(value));
      }),
      ...(isPair ? deltaCells(row, colour) : []),
    ];
  });
  const lines = table(
    [
      { title: "", shrink: true, minWidth: 12 },
      { title: "" },
      ...marks.map((title) => ({ title, align: "right" as const })),
      ...(isPair ? [{ title: "Δ", align: "right" as const }, { title: "" }] : []),
    ],
    cells,
    { colour, columns: options.columns - 2 },
  ).split("\n");
  if (shown.length < wanted.length)
    lines.push(`… ${formatCount(wanted.length - shown.length)} more; --all shows them`);
  return lines.map((line) => `  ${line}`);
}

/** The difference, and whether that is good. */
function deltaCells(row: MetricRow, colour: boolean): [string, string] {
  const [a, b] = row.values;
  if (a === undefined || b === undefined) return ["", ""];
  const delta = b - a;
  if (delta === 0 || Number.isNaN(delta)) return ["", ""];
  const verdict = verdictOf(row);
  const style = verdict === "better" ? "green" : verdict === "worse" ? "red" : [];
  const text = delta > 0 ? `▲ +${formatNumber(delta)}` : `▼ ${formatNumber(delta)}`;
  return [paint(colour, style, text), `${changeText(a, b)} ${verdict ?? ""}`.trim()];
}

/** Of large changes how many times as much; a percentage would have to be divided first. */
function changeText(a: number, b: number): string {
  const share = (b - a) / Math.abs(a);
  if (!Number.isFinite(share)) return "";
  if (share >= TIMES_MIN && a > 0) return `×${formatCount(Math.round(b / a))}`;
  const percent = share * 100;
  return `${percent > 0 ? "+" : ""}${percent.toFixed(Math.abs(percent) >= 10 ? 0 : 1)} %`;
}

function bestOf({ values, direction }: MetricRow): number | undefined {
  const known = values.filter((value) => value !== undefined && !Number.isNaN(value)) as number[];
  if (direction === Direction.UNSPECIFIED || known.length < 2) return undefined;
  return direction === Direction.MINIMIZE ? Math.min(...known) : Math.max(...known);
}
