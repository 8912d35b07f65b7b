/**
 * Finds the run for a reference. Tried in this order: a whole id; a path `a/b/<id>`; an alias; then a name,
 * `namespace/name`, or the beginning of an id. An exact name is preferred to the beginning of an id.
 */
import { Code } from "@connectrpc/connect";
import { isRunId } from "#base/run-id.ts";
import { nearest } from "#base/nearest.ts";
import { quoteText } from "#lang/query/quote.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { isShortId, SHORT_ID_CANDIDATES } from "#sdk/run-facts.ts";
import { CommandError, EXIT } from "./cli.ts";
import { formatAgo } from "#lang/words/times.ts";
import { cut, printable } from "./output/text.ts";

/** Newest runs whose names are compared with one that was mistyped. */
const NAMES_MAX = 2_000;
const SHOWN_MAX = 200;
const SUGGESTED_MAX = 3;

export interface FindRunOptions {
  /** Names and beginnings of ids are looked up only among the runs in the trash. */
  trashed?: boolean;
}

/** The one run that `text` names, below `namespace` where one is given. Throws CommandError for none or several. */
export async function findRun(
  server: Cairn,
  text: string,
  namespace = "",
  { trashed = false }: FindRunOptions = {},
): Promise<Run> {
  if (text === "") {
    throw new CommandError('cannot find run "": it is empty', {
      exitCode: EXIT.usage,
      hint: "give a name, an id or its beginning, a path or an alias",
    });
  }
  const exact = await findExact(server, text, namespace);
  if (exact !== undefined) return exact;
  const found = await searchRun(server, text, namespace, trashed);
  if (found === undefined) throw await notFound(server, text, namespace, trashed);
  return server.runs.getRun({ run: { id: found.id } });
}

/** Several, each once, in the order they were given. */
export async function findRuns(
  server: Cairn,
  texts: readonly string[],
  namespace = "",
  options: FindRunOptions = {},
): Promise<Run[]> {
  const found = new Map<string, Run>();
  for (const text of texts) {
    const run = await findRun(server, text, namespace, options);
    found.set(run.id, run);
  }
  return [...found.values()];
}

async function findExact(server: Cairn, text: string, namespace: string): Promise<Run | undefined> {
  if (isRunId(text)) {
    const run = await unlessMissing(server.runs.getRun({ run: { id: text } }));
    if (run !== undefined) return run;
  } else if (text.includes("/") && isRunId(text.slice(text.lastIndexOf("/") + 1))) {
    const run = await unlessMissing(server.runs.getRun({ run: { path: text } }));
    if (run !== undefined) return run;
  }
  return unlessMissing(server.runs.getRun({ run: { alias: text, namespace } }));
}

async function searchRun(
  server: Cairn,
  text: string,
  namespace: string,
  trashed: boolean,
): Promise<Run | undefined> {
  const search = async (query: string) => {
    const answer = await server.runs.searchRuns({
      query,
      namespace,
      trashed,
      pageSize: SHORT_ID_CANDIDATES,
      columns: ["aliases"],
    });
    if (answer.runs.length > 1) throw ambiguous(text, answer.runs, answer.totalCount);
    return answer.runs[0];
  };
  const byName = await search(`name = ${quoteText(text)}`);
  if (byName !== undefined) return byName;
  const slash = text.lastIndexOf("/");
  if (slash > 0 && slash < text.length - 1) {
    const [path, name] = [text.slice(0, slash), text.slice(slash + 1)];
    const inside = `namespace = ${quoteText(path)} and`;
    const run =
      (await search(`${inside} name = ${quoteText(name)}`)) ??
      (isShortId(name) ? await search(`${inside} id like "${name}%"`) : undefined);
    if (run !== undefined) return run;
  }
  return isShortId(text) ? search(`id like "${text}%"`) : undefined;
}

function ambiguous(text: string, runs: readonly Run[], totalCount: bigint): CommandError {
  const more = Number(totalCount) - runs.length;
  const lines = runs.map(
    (run) => `  ${run.namespace}/${run.id}  ${printable(cut(run.name, 40))}  ${formatAgo(run.createdUs)}`,
  );
  if (more > 0) lines.push(`  and ${more} more`);
  return new CommandError(
    `cannot choose a run for "${shown(text)}": ${totalCount} runs match\n${lines.join("\n")}`,
    { exitCode: EXIT.usage, hint: "give the id, or name the namespace: NAMESPACE/NAME" },
  );
}

async function notFound(
  server: Cairn,
  text: string,
  namespace: string,
  trashed: boolean,
): Promise<CommandError> {
  const where = namespace === "" ? "" : ` in namespace "${shown(namespace)}"`;
  const failure = (hint: string) =>
    new CommandError(`cannot find run "${shown(text)}"${where}${trashed ? " in the trash" : ""}`, {
      exitCode: EXIT.notFound,
      hint,
    });
  const elsewhere = await searchRun(server, text, namespace, !trashed);
  if (elsewhere !== undefined) {
    return failure(
      trashed
        ? "it is not in the trash"
        : `it is in the trash: \`cairn restore ${elsewhere.id}\` brings it back`,
    );
  }
  const { runs } = await server.runs.searchRuns({
    namespace,
    trashed,
    pageSize: NAMES_MAX,
    columns: ["aliases"],
  });
  const names = runs.flatMap((run) => run.aliases.concat(run.name, `${run.namespace}/${run.name}`));
  const near = nearest(
    text,
    names.filter((name) => name !== ""),
  );
  if (near !== undefined) return failure(`did you mean ${quotedWord(near)}?`);
  const longer = new Set(runs.map(({ name }) => name).filter((name) => name.includes(text)));
  if (longer.size === 0) return failure("`cairn ls` lists all runs");
  const some = [...longer].slice(0, SUGGESTED_MAX).map(quotedWord);
  return failure(`did you mean ${some.join(", ")}${longer.size > SUGGESTED_MAX ? ", …" : ""}?`);
}

async function unlessMissing(asked: Promise<Run>): Promise<Run | undefined> {
  try {
    return await asked;
  } catch (thrown) {
    const { code, reason, message, hint } = Failure.from(thrown);
    // A text that is not a valid alias, such as one that is too long, may still be a name.
    const isMiss = code === Code.NotFound || code === Code.InvalidArgument || reason === "LIMIT_EXCEEDED";
    if (isMiss) return undefined;
    if (reason === "ALIAS_AMBIGUOUS")
      throw new CommandError(printable(message), { exitCode: EXIT.usage, hint });
    throw thrown;
  }
}

function shown(text: string): string {
  return printable(cut(text, SHOWN_MAX));
}

function quotedWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `"${shown(text)}"`;
}
