import { InvalidArgumentError, type Command } from "commander";
import { csvRow } from "#base/csv.ts";
import type { Field, MetricField } from "#lang/query/ast.ts";
import { mentionedFields, printField, splitList } from "#lang/query/field-text.ts";
import { andTerm } from "#lang/query/draft/and-condition.ts";
import { isProvenanceList, isProvenanceText } from "#lang/query/provenance-fields.ts";
import { joinOrder, splitOrder } from "#lang/query/draft/order.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { searchRuns, type FoundRuns } from "#sdk/pages.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { paramLeaves } from "#lang/json/leaves.ts";
import { jsonRun } from "../output/json-run.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { cellValue } from "../runs/cell.ts";
import { chooseColumns, type ChosenColumns } from "../runs/choose-columns.ts";
import { findObjectives, readMetricField } from "../runs/objectives.ts";
import { runTable } from "../runs/run-table.ts";
import { columnsFor, type RunSearch } from "../runs/search-runs.ts";
import { printTableField, readTableField, type TableField } from "../runs/table-field.ts";
import { tableWidth } from "../runs/table-width.ts";

const LIMIT_DEFAULT = 50;
const MINE = "creator = me";
const CSV_FIELDS = ["id", "name", "namespace", "status", "created", "started", "ended", "duration"] as const;

interface Options {
  namespace?: string;
  columns?: TableField[];
  sort?: string;
  limit?: number;
  mine?: boolean;
  trash?: boolean;
  watch?: boolean;
  csv?: boolean;
}

export default function add(command: Command, cli: Cli): void {
  command
    .argument("[query]", "such as 'metrics.val_acc.max > 0.9'; see docs/query.md")
    .option("-n, --namespace <path>", "only runs in this namespace and below")
    .option("--columns <list>", "such as name,params.lr,metrics.val_acc.max", parseColumns)
    .option("--sort <field>", "such as metrics.loss.min or started:desc; several with commas")
    .option(
      "--limit <n>",
      `how many at most (default: ${LIMIT_DEFAULT}; with --csv and --json all)`,
      parseLimit,
    )
    .option("--mine", "only runs that you created: creator = me")
    .option("--trash", "only runs in the trash")
    .option("--watch", "show changes live; q quits")
    .option("--csv", "for spreadsheets: every param, numbers in full")
    .addHelpText(
      "after",
      `
Without --columns: fields that differ between the runs, the objective of their namespace, and the fields of the query.

Examples:
  cairn ls
  cairn ls 'status = "running"' -n langtech --watch
  cairn ls --mine --columns name,status,study,training_data
  cairn ls 'params.optim.lr <= 1e-3' --sort metrics.val_loss.min --limit 10
  cairn ls --columns name,params.lr,metrics.val_acc.max --csv > runs.csv`,
    )
    .action(async (query: string | undefined, options: Options) => {
      const search: RunSearch = {
        query: sorted(options.mine === true ? andTerm(query ?? "", MINE) : (query ?? ""), options.sort),
        namespace: options.namespace ?? "",
        trashed: options.trash === true,
        pageSize: options.limit ?? (isForProgram(cli, options) ? Infinity : LIMIT_DEFAULT),
      };
      const server = await cli.connect();
      if (options.watch === true) {
        const { watchRuns } = await import("../runs/watch-runs.ts");
        const choose = (found: FoundRuns, narrowed: RunSearch) =>
          columnsOf(server, narrowed, found, options.columns);
        await watchRuns(cli, server, { search, choose, isFree: options.columns === undefined });
      } else if (cli.options.json === true) await printJson(cli, server, search, options.columns);
      else if (options.csv === true) await printCsv(cli, server, search, options.columns);
      else await printTable(cli, server, search, options);
    });
}

function isForProgram(cli: Cli, options: Options): boolean {
  return cli.options.json === true || options.csv === true;
}

async function printTable(cli: Cli, server: Cairn, search: RunSearch, options: Options): Promise<void> {
  const first = await searchRuns(server, { ...search, columns: ["params"] });
  if (first.runs.length === 0) {
    // An unknown namespace is an error; one without matching runs is not.
    if (search.namespace !== "") await server.namespaces.getNamespace({ path: search.namespace });
    cli.note(search.trashed ? "no runs in the trash match" : "no runs match");
    return;
  }
  const { chosen, found } = await columnsOf(server, search, first, options.columns);
  const width = { columns: tableWidth(cli), colour: cli.colour, nowMs: Date.now(), under: search.namespace };
  cli.print(runTable(found.runs, chosen, width));
  cli.note(summaryOf(found));
}

function summaryOf({ runs, totalCount }: FoundRuns): string {
  if (runs.length >= totalCount) return countOf(totalCount, "run");
  return `${formatCount(runs.length)} of ${countOf(totalCount, "run")}; --limit shows more`;
}

interface Columns {
  chosen: ChosenColumns;
  found: FoundRuns;
}

/** The columns to show, and the runs with what they need. */
async function columnsOf(
  server: Cairn,
  search: RunSearch,
  first: FoundRuns,
  asked: readonly TableField[] | undefined,
): Promise<Columns> {
  const chosen =
    asked === undefined
      ? await chooseColumns(server, search, first.runs, keyedFields(search.query))
      : { fields: [...asked], params: [], objective: undefined };
  const columns = ["params", ...columnsFor(chosen.fields)];
  return { chosen, found: await searchRuns(server, { ...search, columns }) };
}

async function printJson(
  cli: Cli,
  server: Cairn,
  search: RunSearch,
  asked: readonly TableField[] | undefined,
): Promise<void> {
  const wanted = asked === undefined ? ["params", "tags", "aliases", "notes"] : columnsFor(asked);
  const columns = [...wanted, ...columnsFor(metricFields(search.query))];
  const { runs, totalCount } = await searchRuns(server, { ...search, columns });
  cli.printJson({ totalCount, runs: runs.map(jsonRun) });
}

async function printCsv(
  cli: Cli,
  server: Cairn,
  search: RunSearch,
  asked: readonly TableField[] | undefined,
): Promise<void> {
  const progress = cli.progress("reading runs");
  const read = (columns: string[]) =>
    searchRuns(server, { ...search, columns }, {}, (soFar, total) =>
      progress.update(soFar, { total: Math.min(Number(total), search.pageSize) }),
    );
  const first = await read(asked === undefined ? ["params", "tags"] : columnsFor(asked));
  let fields = asked;
  let { runs } = first;
  if (fields === undefined) {
    const objectives = await findObjectives(server, new Set(runs.map(({ namespace }) => namespace)));
    const metrics = metricFields(search.query);
    metrics.push(...Array.from(objectives.values(), ({ field }) => readMetricField(field)));
    const once = new Map(metrics.map((field) => [printField(field), field]));
    if (once.size > 0) {
      ({ runs } = await read(["params", "tags", ...once.keys()]));
    }
    fields = [
      ...CSV_FIELDS.map((name) => ({ of: "run", name }) as const),
      ...once.values(),
      ...everyKey(runs),
    ];
  }
  progress.end();
  const nowMs = Date.now();
  cli.print(csvRow(fields.map(printTableField)));
  for (const run of runs) cli.print(csvRow(fields.map((field) => cellValue(run, field, nowMs))));
}

/** Params, tags, metrics and provenance of the query. */
function keyedFields(query: string): Field[] {
  return mentionedFields(query).filter((field) => {
    return field.of !== "run" || isProvenanceText(field.name) || isProvenanceList(field.name);
  });
}

function metricFields(query: string): MetricField[] {
  return mentionedFields(query).filter((field) => field.of === "metric");
}

/** Every param and tag that some run has. */
function everyKey(runs: readonly Run[]): Field[] {
  const params = new Set(runs.flatMap((run) => [...paramLeaves(Object.entries(run.params)).keys()]));
  const tags = new Set(runs.flatMap((run) => Object.keys(run.tags)));
  return [
    ...[...params].sort().map((key) => ({ of: "param", key }) as const),
    ...[...tags].sort().map((key) => ({ of: "tag", key }) as const),
  ];
}

/** The query with its order. Throws CommandError when it has one already. */
function sorted(query: string, sort: string | undefined): string {
  if (sort === undefined) return query;
  if (splitOrder(query).order !== "") {
    throw new CommandError(`cannot sort by "${sort}": the query already has an order`, {
      exitCode: EXIT.usage,
      hint: "leave out --sort, or `order by` in the query",
    });
  }
  const orders = splitList(sort).map((item) => {
    const [, field, direction] = /^(.*?)(?::(asc|desc))?$/is.exec(item)!;
    return { text: field === "age" ? "started" : field!, descending: direction?.toLowerCase() === "desc" };
  });
  if (orders.length === 0) {
    throw new CommandError(`cannot sort by "${sort}": a field is required`, {
      exitCode: EXIT.usage,
      hint: "such as metrics.loss.min or started:desc",
    });
  }
  return joinOrder(query, orders);
}

function parseColumns(text: string): TableField[] {
  const fields = splitList(text).map(readTableField);
  if (fields.length === 0) throw new InvalidArgumentError("must be a list such as name,params.lr.");
  return fields;
}

function parseLimit(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("must be a whole number of 1 or more.");
}
