import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { eachPage } from "#sdk/pages.ts";
import { shortId } from "#sdk/run-facts.ts";
import { inParallel } from "#base/in-parallel.ts";
import { CommandError, EXIT, type Cli } from "./cli.ts";
import { explain } from "./explain.ts";
import { findRuns } from "./find-run.ts";
import { countOf } from "#lang/words/numbers.ts";
import { printable } from "./output/text.ts";

const PAGE = 1_000;
/** Of one command line: more at once is a job for a script with a query per part. */
const BATCH_RUNS_MAX = 100_000;
const AT_ONCE = 8;
const FAILURES_SHOWN = 10;

export interface BatchOptions {
  namespace?: string;
  query?: string;
  yes?: boolean;
}

/** The runs that a command line names, one by one and by a query. */
export async function chooseRuns(
  server: Cairn,
  words: readonly string[],
  { namespace = "", query }: BatchOptions,
  trashed: boolean,
): Promise<Run[]> {
  if (words.length === 0 && query === undefined) {
    throw new CommandError("cannot choose runs: none is named", {
      exitCode: EXIT.usage,
      hint: "name runs, or select them with --query",
    });
  }
  const named = await findRuns(server, words, namespace, { trashed });
  const all = new Map(named.map((run) => [run.id, run]));
  if (query !== undefined) {
    for await (const run of searchAll(server, { query, namespace, trashed })) all.set(run.id, run);
  }
  return [...all.values()];
}

async function* searchAll(
  server: Cairn,
  request: { query: string; namespace: string; trashed: boolean },
): AsyncGenerator<Run> {
  const asked = { ...request, pageSize: PAGE, columns: ["aliases"] };
  for await (const page of eachPage((pageToken) => server.runs.searchRuns({ ...asked, pageToken }))) {
    if (page.totalCount > BigInt(BATCH_RUNS_MAX)) {
      throw new CommandError(
        `cannot take ${countOf(page.totalCount, "run")} at once: the most is ${countOf(BATCH_RUNS_MAX, "run")}`,
        { hint: "narrow the query" },
      );
    }
    yield* page.runs;
  }
}

export interface BatchResult {
  done: Run[];
  failed: { run: Run; message: string }[];
}

/** Does one thing to every run, some at once; one that fails does not keep the others from it. */
export async function eachRun(
  cli: Cli,
  title: string,
  runs: readonly Run[],
  act: (run: Run) => Promise<unknown>,
): Promise<BatchResult> {
  const result: BatchResult = { done: [], failed: [] };
  const progress = cli.progress(title, runs.length);
  try {
    await inParallel(runs, AT_ONCE, async (run) => {
      // The runs done so far are reported, so this is not a failure.
      if (cli.interrupted.aborted) return;
      try {
        await act(run);
        result.done.push(run);
      } catch (thrown) {
        const failure = await explain(thrown, "", cli.env);
        // No server, or no right at all: the others would fail in the same way.
        if (failure?.exitCode === EXIT.unreachable) throw thrown;
        result.failed.push({ run, message: failure?.message ?? "" });
      }
      progress.update(result.done.length + result.failed.length);
    });
  } finally {
    progress.end();
  }
  return result;
}

/** Prints what was done, and ends with 1 if a run failed. */
export function tellBatch(cli: Cli, verb: string, { done, failed }: BatchResult): void {
  if (failed.length > 0) cli.endWith(EXIT.failed);
  if (cli.options.json === true) {
    cli.printJson({
      done: done.map(({ id }) => id),
      failed: failed.map(({ run, message }) => ({ id: run.id, message })),
    });
    return;
  }
  if (done.length === 1) cli.print(`${verb} ${nameOf(done[0]!)}.`);
  else if (done.length > 0 || failed.length === 0) cli.print(`${verb} ${countOf(done.length, "run")}.`);
  for (const { run, message } of failed.slice(0, FAILURES_SHOWN)) {
    cli.note(`cairn: ${nameOf(run)}: ${printable(message)}`);
  }
  if (failed.length > FAILURES_SHOWN) cli.note(`cairn: and ${failed.length - FAILURES_SHOWN} more failed`);
}

export function nameOf(run: Run): string {
  return run.name === "" ? run.id : `${printable(run.name)} (${shortId(run.id)})`;
}
