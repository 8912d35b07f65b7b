import { isSystemMetric } from "#lang/metric-key.ts";
import { readPatchLines } from "#lang/words/patch.ts";
import { countOf, formatCount, formatNumber, formatPercentChange } from "#lang/words/numbers.ts";
import {
  PatchDifference_How as How,
  type ComparedMetric,
  type ComparedPart,
  type ComparedRow,
  type CompareRunsResponse,
  type PatchDifference,
} from "#proto/cairn/v1/explore_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { differs, metricName, partWord, shortCommit, textsOf, verdictWord } from "#sdk/comparison.ts";
import { bestStat } from "#sdk/direction.ts";
import { shortId } from "#sdk/run-facts.ts";
import { statusMark } from "../output/status-mark.ts";
import { table } from "../output/table.ts";
import { padEnd, paint, printable, widthOf } from "../output/text.ts";
import { listedRow, needsLines } from "./listed-rows.ts";
import { fitLine } from "../runs/fit-line.ts";
import { paintPatchLine } from "../show/provenance-lines.ts";

export interface DiffOptions {
  colour: boolean;
  columns: number;
  /** Also what is the same. */
  all: boolean;
}

const NONE = "—";
const PATCH_LINES_MAX = 80;
const ROWS_MAX = 40;
const METRIC_ROWS_MAX = 30;

/** What differs, part by part; parts that are the same are only named. */
export function diffPage(compared: CompareRunsResponse, options: DiffOptions): string[] {
  const { runs, parts, patches } = compared;
  const { colour, all } = options;
  const marks = runs.map((_, i) => markOf(i));
  const lines = heads(runs, marks, colour);
  const same: string[] = [];
  const section = (title: string, different: number, total: number, body: () => string[]) => {
    if (total === 0) return;
    if (different === 0 && !all) {
      same.push(title);
      return;
    }
    const count = total === 1 ? "" : `  ${formatCount(different)} of ${formatCount(total)} differ`;
    const name = title[0]!.toUpperCase() + title.slice(1);
    lines.push("", `${paint(colour, "bold", name)}${paint(colour, "dim", count)}`, ...body());
  };
  for (const part of parts) {
    const different = part.rows.filter(differs).length;
    section(partWord(part), different, part.rows.length + Number(part.equalRows), () =>
      partLines(part, marks, options).concat(
        partWord(part) === "code" ? patchLines(patches, marks, options) : [],
      ),
    );
  }
  const metrics = compared.metrics.filter((row) => all || isTelling(row));
  const different = metrics.filter((row) => row.differs).length;
  if (different > 0 || !compared.metricsTruncated) {
    section("metrics", different, metrics.length + Number(compared.equalMetrics), () =>
      metricLines(metrics, marks, options),
    );
  }
  if (compared.metricsTruncated) lines.push("", MORE_METRICS);
  if (same.length > 0) lines.push("", paint(colour, "dim", `the same: ${same.join(", ")}`));
  return lines.map((line) => fitLine(line, options.columns));
}

const MORE_METRICS = "… not all metrics were compared; `cairn show RUN --metrics GLOB` lists them";

/** Where a direction is known, only the best and the last value are shown. */
function isTelling({ key, stat, direction }: ComparedMetric): boolean {
  if (isSystemMetric(key)) return false;
  return direction === Direction.UNSPECIFIED || stat === "last" || stat === bestStat(direction);
}

function partLines(part: ComparedPart, marks: readonly string[], options: DiffOptions): string[] {
  const word = partWord(part);
  if (word === "command") return commandLines(part.rows, marks, options);
  if (word !== "data" && word !== "run") return rowLines(part.rows, marks, options);
  const wanted = part.rows.filter((row) => options.all || differs(row));
  const [listed, short] = [true, false].map((isListed) =>
    wanted.filter((row) => needsLines(row, options.columns - 2) === isListed),
  ) as [ComparedRow[], ComparedRow[]];
  return [
    ...(short.length > 0 ? rowLines(short, marks, options) : []),
    ...listed.flatMap((row) => listedRow(row, marks, options.colour)).map((line) => `  ${line}`),
  ];
}

/** A, B, …, Z, then numbers. */
function markOf(i: number): string {
  return i < 26 ? String.fromCharCode(65 + i) : String(i + 1);
}

function heads(runs: readonly Run[], marks: readonly string[], colour: boolean): string[] {
  const width = Math.max(...runs.map(({ name }) => widthOf(printable(name))));
  return runs.map((run, i) => {
    const name = paint(colour, "bold", padEnd(printable(run.name), width));
    const place = paint(colour, "dim", `${printable(run.namespace)}  ${shortId(run.id)}`);
    return `${marks[i]}  ${name}  ${padEnd(statusMark(run.status, colour), 10)}  ${place}`;
  });
}

function rowLines(rows: readonly ComparedRow[], marks: readonly string[], options: DiffOptions): string[] {
  const { colour } = options;
  const wanted = rows.filter((row) => differs(row) || options.all);
  const shown = options.all ? wanted : wanted.slice(0, ROWS_MAX);
  const cells = shown.map((row) => [
    paint(colour, differs(row) ? [] : "dim", printable(row.key)),
    ...textsOf(row).map((value) => cellOf(value && shortCommit(value), differs(row), colour)),
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

function cellOf(value: string | undefined, isDifferent: boolean, colour: boolean): string {
  if (value === undefined || value === "") return paint(colour, "dim", NONE);
  return isDifferent ? printable(value) : paint(colour, "dim", printable(value));
}

function commandLines(
  rows: readonly ComparedRow[],
  marks: readonly string[],
  { colour }: DiffOptions,
): string[] {
  return rows.flatMap((row) =>
    textsOf(row).map((value, i) => `  ${paint(colour, "dim", marks[i]!)}  ${cellOf(value, true, colour)}`),
  );
}

function patchLines(
  patches: readonly PatchDifference[],
  marks: readonly string[],
  { colour, all }: DiffOptions,
): string[] {
  return patches.flatMap(({ how, lines, moreLines }, i) => {
    if (how === How.SAME) return [];
    const shown = all ? lines : lines.slice(0, PATCH_LINES_MAX);
    const left = lines.length - shown.length + Number(moreLines);
    // Of a very long comparison the server sends the beginning only.
    const way =
      shown.length < lines.length
        ? "--all shows more"
        : "`cairn show RUN --provenance` shows a patch in full";
    return [
      `  ${paint(colour, "dim", `${PATCH_HEADS[how]}, ${marks[0]} → ${marks[i + 1]}:`)}`,
      ...readPatchLines(shown).map((line) => `    ${paintPatchLine(line, colour)}`),
      ...(left > 0 ? [`    … ${countOf(left, "more line")}; ${way}`] : []),
    ];
  });
}

const PATCH_HEADS: Readonly<Record<How, string>> = {
  [How.UNSPECIFIED]: "uncommitted changes",
  [How.SAME]: "the same uncommitted changes",
  [How.OWN]: "uncommitted changes of the second only",
  [How.MISSING]: "uncommitted changes of the first only",
  [How.BETWEEN]: "uncommitted changes",
  [How.TOO_DIFFERENT]: "uncommitted changes, too different to be compared line by line",
};

function metricLines(
  rows: readonly ComparedMetric[],
  marks: readonly string[],
  options: DiffOptions,
): string[] {
  const { colour } = options;
  const wanted = rows.filter((row) => row.differs || options.all);
  const shown = options.all ? wanted : wanted.slice(0, METRIC_ROWS_MAX);
  const isPair = marks.length === 2;
  const cells = shown.map((row, i) => {
    const name = metricName(row);
    const above = shown[i - 1];
    return [
      above !== undefined && metricName(above) === name ? "" : name,
      paint(colour, "dim", row.stat),
      ...row.values.map(({ value, best }) => {
        if (value === undefined) return paint(colour, "dim", NONE);
        return paint(colour, !isPair && best ? "bold" : [], formatNumber(value));
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
function deltaCells({ values: [, other] }: ComparedMetric, colour: boolean): [string, string] {
  const { difference, share } = other!;
  if (difference === undefined || difference === 0) return ["", ""];
  const verdict = verdictWord(other!);
  const style = verdict === "better" ? "green" : verdict === "worse" ? "red" : [];
  const text = difference > 0 ? `▲ +${formatNumber(difference)}` : `▼ ${formatNumber(difference)}`;
  return [paint(colour, style, text), `${formatPercentChange(share) ?? ""} ${verdict ?? ""}`.trim()];
}
