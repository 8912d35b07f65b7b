import { RUN_FIELDS } from "#lang/query/fields.ts";
import { escapeLike, quoteText } from "#lang/query/quote.ts";
import type { Cairn } from "#sdk/client.ts";
import { listNamespaces } from "#sdk/pages.ts";
import { FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { ROLE_WORDS } from "../access/roles.ts";
import { findRun } from "../find-run.ts";
import { formatAgo } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";

/** What a word may become. */
export interface Candidate {
  text: string;
  /** For shells that show one. */
  note?: string;
}

/** What kind of value is expected at a position of a command line. */
export type Kind =
  | "run"
  | "namespace"
  | "scope"
  | "metric"
  | "metric-key"
  | "field"
  | "artifact"
  | "principal"
  | "role"
  | "token"
  | "backup"
  | "file";

/** What has been typed so far, as far as the server needs it. */
export interface Typed {
  /** The word that is being typed. */
  word: string;
  /** Arguments before it, without options. */
  before: readonly string[];
  /** Of -n or --namespace. */
  namespace: string;
  /** Whether the command works on runs in the trash. */
  trashed: boolean;
}

const RUNS_MAX = 50;
const KEYS_MAX = 200;

export async function candidatesOf(kind: Kind, server: Cairn, typed: Typed): Promise<Candidate[]> {
  switch (kind) {
    case "run":
      return runs(server, typed);
    case "namespace":
      return (await listNamespaces(server)).map(({ path, description }) => ({
        text: path,
        note: description,
      }));
    case "scope":
      return [
        { text: "/", note: "everything" },
        ...(await listNamespaces(server)).map(({ path }) => ({ text: path })),
      ];
    case "metric":
      return metrics(server, typed);
    case "metric-key":
      return metricKeys(server, typed);
    case "field":
      return fields(typed);
    case "artifact":
      return artifacts(server, typed);
    case "principal": {
      const { principals } = await server.access.listPrincipals({ pageSize: KEYS_MAX });
      return principals.map(({ name, displayName }) => ({ text: name, note: displayName }));
    }
    case "token": {
      const { tokens } = await server.access.listTokens({});
      return tokens.map(({ id, name }) => ({ text: name || id, note: id }));
    }
    case "backup": {
      const { backups } = await server.system.listBackups({});
      return backups.map(({ name, createdUs }) => ({ text: name, note: formatAgo(createdUs) }));
    }
    case "role":
      return ROLE_WORDS.map((text) => ({ text }));
    case "file":
      return [];
  }
}

/** Newest first. A run is offered by its name, or by the alias or id that begins with what was typed. */
async function runs(server: Cairn, { word, namespace, trashed }: Typed): Promise<Candidate[]> {
  const like = quoteText(`${escapeLike(word)}%`);
  const { runs: found } = await server.runs.searchRuns({
    query: `name like ${like} or alias like ${like} or id like ${like}`,
    namespace,
    trashed,
    pageSize: RUNS_MAX,
    columns: ["aliases"],
  });
  return found.map((run) => ({ text: nameThatFits(run, word), note: describe(run) }));
}

function nameThatFits(run: Run, word: string): string {
  const fits = [run.name, ...run.aliases].find((name) => name !== "" && name.startsWith(word));
  return fits ?? run.id;
}

function describe(run: Run): string {
  return `${wordOf(RunStatus, run.status)}, ${run.namespace}, ${formatAgo(run.createdUs)}`;
}

/** Of the first word before that names a run. */
async function metrics(server: Cairn, { word, before, namespace }: Typed): Promise<Candidate[]> {
  const first = before[0];
  if (first === undefined) return [];
  const run = await findRun(server, first, namespace);
  const { series } = await server.metrics.listSeries({
    run: { id: run.id },
    // The typed text is literal, also where it contains a star.
    regex: `^${word.replaceAll(/[^\p{L}\p{N}]/gu, "\\$&")}`,
    pageSize: KEYS_MAX,
  });
  return [...new Set(series.map(({ key }) => key))].map((text) => ({ text }));
}

/** Columns without a key, also behind others in a list with commas. */
function fields({ word }: Typed): Candidate[] {
  const before = word.slice(0, word.lastIndexOf(",") + 1);
  return ["age", ...RUN_FIELDS].map((name) => ({ text: before + name }));
}

/** Of all runs of the namespace, if it was named already. */
async function metricKeys(server: Cairn, { word, namespace }: Typed): Promise<Candidate[]> {
  const { fields } = await server.explore.listFields({
    runs: { namespace },
    kinds: [FieldKind.METRIC],
    find: word,
    pageSize: KEYS_MAX,
  });
  return fields.map(({ key }) => ({ text: key }));
}

async function artifacts(server: Cairn, { before, namespace }: Typed): Promise<Candidate[]> {
  const first = before[0];
  if (first === undefined) return [];
  const run = await findRun(server, first, namespace);
  const page = await server.artifacts.listArtifacts({ run: { id: run.id }, pageSize: KEYS_MAX });
  return page.artifacts.map(({ name }) => ({ text: name }));
}
