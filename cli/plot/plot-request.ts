import { nearest } from "#base/nearest.ts";
import { compilePattern } from "#lang/query/pattern.ts";
import { globToRegex } from "#lang/query/wildcards.ts";
import { countOf } from "#lang/words/numbers.ts";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { MatchOp } from "#proto/cairn/v1/series_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { eachPage, searchRuns } from "#sdk/pages.ts";
import { CommandError, EXIT } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { cut, printable } from "../output/text.ts";
import { parseTime } from "../runs/parse-time.ts";
import type { Band } from "./read-groups.ts";
import type { AxisKind } from "./scale.ts";

/** As commander gives them. */
export interface PlotOptions {
  x: AxisKind;
  smooth?: number;
  log?: boolean;
  from?: string;
  to?: string;
  width?: number;
  height?: number;
  namespace?: string;
  query?: string;
  limit: number;
  groupBy?: string;
  band: Band;
  ascii?: boolean;
}

export interface Chosen {
  /** Those that were named, or that the namespace and query chose. */
  runs: readonly Run[];
  /** Whether runs were named one by one. */
  named: boolean;
  /** How many match, where a namespace or query chose. */
  matching: number;
  keys: readonly string[];
  /** A glob was matched with some of the keys only: the runs have too many series. */
  isKeysCut: boolean;
}

const CHARTS_MAX = 20;
const KEYS_SHOWN = 8;
const GLOB = /[*?]/;
const SPAN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;
const UNIT_US: Readonly<Record<string, number>> = {
  ms: 1e3,
  s: 1e6,
  m: 60e6,
  h: 3600e6,
  d: 86_400e6,
  w: 604_800e6,
};

/** A step, a time (ISO text, or `now-2h`), or a span since the start: as the axis has it. */
export function parsePlace(text: string | undefined, axis: AxisKind, nowMs = Date.now()): bigint | undefined {
  if (text === undefined) return undefined;
  const wrong = (wanted: string) =>
    new CommandError(
      `cannot use "${printable(cut(text, 100))}" as a place on the axis: it is not a ${wanted}`,
      {
        exitCode: EXIT.usage,
      },
    );
  if (axis === "step") {
    if (!/^-?\d{1,16}$/.test(text)) throw wrong("step such as 1000");
    return BigInt(text);
  }
  if (axis === "elapsed") {
    const match = SPAN.exec(text);
    if (match === null) throw wrong("span of time such as 90s, 30m or 2h");
    return BigInt(Math.round(Number(match[1]) * UNIT_US[match[2]!]!));
  }
  try {
    return parseTime(text, nowMs);
  } catch {
    throw wrong("time such as 2026-11-15T14:00, 2h or now-2h");
  }
}

/**
 * Which words are runs and which are metrics: the first is a run and the last a metric; one between them is a run
 * if there is such a run. With a namespace or a query all are metrics.
 */
export async function chooseRuns(
  server: Cairn,
  words: readonly string[],
  options: PlotOptions,
): Promise<Chosen> {
  if (options.namespace !== undefined || options.query !== undefined) {
    const { runs, totalCount } = await searchRuns(server, {
      query: options.query ?? "",
      namespace: options.namespace ?? "",
      pageSize: options.limit,
      columns: ["tags"],
    });
    if (runs.length === 0) {
      throw new CommandError("cannot plot: no run matches", {
        exitCode: EXIT.notFound,
        hint: "`cairn ls` with the same query and namespace lists the runs",
      });
    }
    const chosen = await chooseKeys(server, runs, words);
    return { runs, named: false, matching: Number(totalCount), ...chosen };
  }
  if (words.length < 2) {
    throw new CommandError(
      `cannot plot "${printable(cut(words[0]!, 100))}": a run and a metric are required`,
      {
        exitCode: EXIT.usage,
        hint: "such as `cairn plot RUN train/loss`; `cairn show RUN` lists its metrics",
      },
    );
  }
  const runs = new Map<string, Run>();
  let firstMetric = words.length - 1;
  for (const [i, word] of words.slice(0, -1).entries()) {
    const run = i === 0 ? await findRun(server, word) : await runOrNone(server, word);
    if (run === undefined) {
      firstMetric = i;
      break;
    }
    runs.set(run.id, run);
  }
  const found = [...runs.values()];
  const chosen = await chooseKeys(server, found, words.slice(firstMetric));
  return { runs: found, named: true, matching: found.length, ...chosen };
}

async function runOrNone(server: Cairn, word: string): Promise<Run | undefined> {
  if (GLOB.test(word)) return undefined;
  try {
    return await findRun(server, word);
  } catch (thrown) {
    if (thrown instanceof CommandError && thrown.exitCode === EXIT.notFound) return undefined;
    throw thrown;
  }
}

/** The metrics that the words name, in their order, each once. */
async function chooseKeys(
  server: Cairn,
  runs: readonly Run[],
  words: readonly string[],
): Promise<Pick<Chosen, "keys" | "isKeysCut">> {
  const refs = runs.map(({ id }) => ({ id }));
  const { keys, truncated } = await server.metrics.listRunKeys({ runs: refs });
  const known = keys.filter(({ hasNumbers }) => hasNumbers).map(({ key }) => key);
  const chosen = new Set<string>();
  for (const word of words) {
    const matching = GLOB.test(word) ? known.filter(globTest(word)) : known.filter((key) => key === word);
    if (truncated && !GLOB.test(word) && (await isNumeric(server, refs, word))) matching.push(word);
    if (matching.length === 0) throw noSuchMetric(runs, known, word);
    for (const key of matching) chosen.add(key);
  }
  if (chosen.size > CHARTS_MAX) {
    throw new CommandError(`cannot plot ${chosen.size} metrics at once: at most ${CHARTS_MAX}`, {
      exitCode: EXIT.usage,
      hint: "name fewer, or a narrower glob",
    });
  }
  return { keys: [...chosen], isKeysCut: truncated && words.some((word) => GLOB.test(word)) };
}

function globTest(glob: string): (key: string) => boolean {
  const pattern = compilePattern(globToRegex(glob), "glob");
  return (key) => pattern.test(key);
}

/** Of a key that may be among those that were not looked at. */
async function isNumeric(server: Cairn, runs: { id: string }[], key: string): Promise<boolean> {
  const matchers = [{ op: MatchOp.EQUAL, value: key }];
  const pages = eachPage((pageToken) => server.metrics.listSeries({ runs, matchers, pageToken }));
  for await (const { series } of pages) if (series.some(({ kind }) => kind !== SeriesKind.TEXT)) return true;
  return false;
}

function noSuchMetric(runs: readonly Run[], known: readonly string[], word: string): CommandError {
  const of = runs.length === 1 ? `run "${printable(cut(runs[0]!.name, 60))}"` : countOf(runs.length, "run");
  const near = nearest(word, known);
  const shown = known.slice(0, KEYS_SHOWN).map((key) => printable(cut(key, 40)));
  const more = known.length > shown.length ? ", …" : "";
  return new CommandError(`cannot plot "${printable(cut(word, 100))}": no such metric or run in ${of}`, {
    exitCode: EXIT.notFound,
    hint:
      near !== undefined
        ? `did you mean ${printable(near)}?`
        : known.length === 0
          ? "it has logged no numbers yet"
          : `it has ${shown.join(", ")}${more}`,
  });
}
