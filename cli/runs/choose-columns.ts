/**
 * Which columns a list of runs has when nobody says: what tells the rows apart. The namespace where it varies, the
 * metric the namespace is judged by, what the query talks about, and params that differ between the rows shown.
 */
import type { MetricField } from "#lang/query/ast.ts";
import { printField } from "#lang/query/field-text.ts";
import type { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { widthOf } from "../output/text.ts";
import { leavesOfRun } from "./cell.ts";
import { leafWord } from "./json-node.ts";
import { bestField, findObjectives } from "./objectives.ts";
import { printTableField, type TableField } from "./table-field.ts";

const PARAMS_MAX = 8;
const WORD_WIDTH_MAX = 24;
/** Runs that are looked at for a metric where no objective says one. */
const PROBED_RUNS_MAX = 3;
const SERIES_MAX = 200;

export interface ChosenColumns {
  /** Shown in any case. */
  fields: TableField[];
  /** As many of them as there is room for, best first. */
  params: TableField[];
  /** What all the rows are judged by, when it is the same for all. */
  objective: { field: MetricField; direction: Direction } | undefined;
}

export async function chooseColumns(
  server: Cairn,
  runs: readonly Run[],
  asked: readonly TableField[],
): Promise<ChosenColumns> {
  const namespaces = new Set(runs.map(({ namespace }) => namespace));
  const objectives = await findObjectives(server, namespaces);
  const byNamespace = new Map([...objectives].map(([namespace, one]) => [namespace, bestField(one)]));
  const different = new Map([...byNamespace.values()].map((field) => [printField(field), field]));
  const [only] = different.values();
  const metric: TableField | undefined =
    different.size > 1 ? { of: "best", byNamespace } : (only ?? (await likelyMetric(server, runs, asked)));
  const fields: TableField[] = [
    { of: "run", name: "name" },
    { of: "run", name: "status" },
    { of: "age" },
    { of: "run", name: "duration" },
  ];
  if (namespaces.size > 1) fields.push({ of: "run", name: "namespace" });
  fields.push(...asked);
  if (metric !== undefined && !asked.some((field) => isSame(field, metric))) fields.push(metric);
  const params = differingParams(runs).filter((field) => !asked.some((one) => isSame(one, field)));
  const [first] = objectives.values();
  const objective =
    only !== undefined && different.size === 1 ? { field: only, direction: first!.direction } : undefined;
  return { fields, params, objective };
}

/** Params that are not the same in all rows: first those with several values, which most rows have. */
function differingParams(runs: readonly Run[]): TableField[] {
  const values = new Map<string, { words: Set<string>; rows: number; width: number }>();
  for (const run of runs) {
    for (const [key, leaf] of leavesOfRun(run)) {
      const found = values.get(key) ?? { words: new Set(), rows: 0, width: 0 };
      const word = leafWord(leaf);
      found.words.add(word);
      found.rows++;
      found.width = Math.max(found.width, widthOf(word));
      values.set(key, found);
    }
  }
  return [...values]
    .filter(([, { words, rows, width }]) => {
      return (words.size > 1 || rows < runs.length) && width <= WORD_WIDTH_MAX;
    })
    .sort(([a, one], [b, other]) => {
      const byValues = Number(other.words.size > 1) - Number(one.words.size > 1);
      return byValues || other.rows - one.rows || one.words.size - other.words.size || (a < b ? -1 : 1);
    })
    .slice(0, PARAMS_MAX)
    .map(([key]) => ({ of: "param", key }));
}

function isSame(a: TableField, b: TableField): boolean {
  return printTableField(a) === printTableField(b);
}

/** Without an objective, a metric that people look at first. */
async function likelyMetric(
  server: Cairn,
  runs: readonly Run[],
  asked: readonly TableField[],
): Promise<TableField | undefined> {
  if (asked.some(({ of }) => of === "metric")) return undefined;
  for (const { id } of runs.slice(0, PROBED_RUNS_MAX)) {
    const { series } = await server.metrics.listSeries({ run: { id }, pageSize: SERIES_MAX });
    const keys = new Set(series.map(({ key }) => key).filter((key) => !key.startsWith("system/")));
    const [best] = [...keys].sort((a, b) => likeliness(b) - likeliness(a) || (a < b ? -1 : 1));
    if (best !== undefined) return { of: "metric", key: best, stat: "last" };
  }
  return undefined;
}

function likeliness(key: string): number {
  const isHeldOut = /val|eval|test|dev/i.test(key);
  const isScore = /acc|auc|f1|bleu|wer|score|reward|map|iou|psnr/i.test(key);
  const isLoss = /loss|error|perplexity|ppl/i.test(key);
  return (isHeldOut ? 2 : 0) + (isScore ? 3 : isLoss ? 2 : 0);
}
