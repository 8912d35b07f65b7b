import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { metricOf } from "#sdk/run-facts.ts";
import { table, type Column } from "../output/table.ts";
import { paint, printable, widthOf } from "../output/text.ts";
import { cellText, isNumeric } from "./cell.ts";
import type { ChosenColumns } from "./choose-columns.ts";
import { printTableField, type TableField } from "./table-field.ts";

export interface RunTableOptions {
  colour: boolean;
  columns: number;
  nowMs: number;
  /** The requested namespace, which is not repeated in every row. */
  under: string;
}

const GAP = 2;
/** Columns that may be cut are counted at most this wide when it is decided whether one more fits. */
const CUT_WIDTH = 24;
const PATH_WIDTH = 16;
const WIDE_COLUMNS = 110;
const WIDE_PATH_WIDTH = 32;

/** Runs as a table as wide as the terminal: chosen params are added from the best on while they fit. */
export function runTable(runs: readonly Run[], chosen: ChosenColumns, options: RunTableOptions): string {
  const fields = [...chosen.fields];
  let width = fields.reduce((sum, field) => sum + GAP + widthOfColumn(runs, field, options), -GAP);
  for (const field of chosen.params) {
    width += GAP + widthOfColumn(runs, field, options);
    if (width > options.columns) break;
    fields.push(field);
  }
  const best = bestRun(runs, chosen);
  const rows = runs.map((run) =>
    fields.map((field) => {
      const text = shownText(run, field, options);
      const isBest = run === best && printTableField(field) === printTableField(chosen.objective!);
      return isBest ? paint(options.colour, "bold", text) : text;
    }),
  );
  return table(
    fields.map((field) => columnOf(runs, field, fields)),
    rows,
    options,
  );
}

/** The end of a long namespace is more useful than its beginning. */
function shownText(run: Run, field: TableField, options: RunTableOptions): string {
  const text = cellText(run, field, options);
  if (field.of !== "run" || field.name !== "namespace") return text;
  const { under } = options;
  const below = under !== "" && text.startsWith(`${under}/`) ? text.slice(under.length + 1) : text;
  if (below === under) return ".";
  const room = options.columns < WIDE_COLUMNS ? PATH_WIDTH : WIDE_PATH_WIDTH;
  if (widthOf(below) <= room || options.columns === Infinity) return below;
  const slash = below.indexOf("/", below.length - room);
  return `…${below.slice(slash < 0 ? Math.max(0, below.lastIndexOf("/")) : slash)}`;
}

function columnOf(runs: readonly Run[], field: TableField, all: readonly TableField[]): Column {
  return {
    title: titleOf(field, all),
    align: isNumeric(runs, field) ? "right" : "left",
    shrink: isLong(field),
    minWidth: field.of === "run" && field.name === "name" ? 12 : 6,
  };
}

/** Whether it may be cut. */
function isLong(field: TableField): boolean {
  if (field.of === "run") return ["name", "namespace", "notes", "alias"].includes(field.name);
  return field.of !== "age";
}

/** The key alone, unless two columns have the same. */
function titleOf(field: TableField, all: readonly TableField[]): string {
  if (field.of === "run") return field.name === "duration" ? "TOOK" : field.name.toUpperCase();
  if (field.of === "age" || field.of === "best") return field.of.toUpperCase();
  if (field.of === "metric") return printable(printTableField(field).slice("metrics.".length));
  const isTwice = all.some((other) => other !== field && "key" in other && other.key === field.key);
  return printable(isTwice ? printTableField(field) : field.key);
}

function widthOfColumn(runs: readonly Run[], field: TableField, options: RunTableOptions): number {
  const widest = runs.reduce(
    (most, run) => Math.max(most, widthOf(shownText(run, field, options))),
    widthOf(titleOf(field, [])),
  );
  return isLong(field) ? Math.min(widest, CUT_WIDTH) : widest;
}

function bestRun(runs: readonly Run[], { objective }: ChosenColumns): Run | undefined {
  if (objective === undefined) return undefined;
  const sign = objective.stat === "min" ? -1 : 1;
  let best: Run | undefined;
  let most = -Infinity;
  for (const run of runs) {
    const value = metricOf(run, objective);
    if (value === undefined || !(sign * value > most)) continue;
    most = sign * value;
    best = run;
  }
  return best;
}
