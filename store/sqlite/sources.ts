import { CairnError, quote } from "#core/errors.ts";
import { limits } from "#core/limits.ts";
import type { Artifact } from "#core/model/artifact.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import type {
  LineageStore,
  Link,
  NewLink,
  ReadLinkedArtifacts,
  ReadLinks,
} from "#core/ports/lineage-store.ts";
import { Artifacts } from "./artifacts.ts";
import { appendAudit } from "./audit.ts";
import type { Db, Row, Value } from "./db.ts";

const COLUMNS = `link.id, child.id, child_in.path, link.source, source_in.path, link.artifact, link.created_us`;
const CHILD = "run AS child ON child.key = link.run";
const ENDS = `JOIN namespace AS child_in ON child_in.id = child.namespace
  LEFT JOIN run AS origin ON origin.id = link.source
  LEFT JOIN namespace AS source_in ON source_in.id = origin.namespace`;
const WANTED = "FROM json_each(?) AS wanted";
/**
 * CROSS JOIN keeps the order: for each id its links by their index, which has them by number; so the limit
 * stops the work and nothing is sorted.
 */
const FROM: Readonly<Record<ReadLinks["end"], string>> = {
  child: `${WANTED} CROSS JOIN run AS child ON child.id = wanted.value
    CROSS JOIN source_link AS link INDEXED BY source_link_run ON link.run = child.key`,
  source: `${WANTED} CROSS JOIN source_link AS link INDEXED BY source_link_source ON link.source = wanted.value
    CROSS JOIN ${CHILD}`,
};
const OTHER_END: Readonly<Record<ReadLinks["end"], string>> = { child: "link.source", source: "child.id" };

const MODELS = {
  kind: "model",
  prefix: "",
  fromStep: undefined,
  toStep: undefined,
  after: undefined,
} as const;

/** The table of links. Callers wrap what writes in a transaction or savepoint. */
export class Sources {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  add({ childId, source, artifact, createdUs }: NewLink): { created: boolean; createdUs: number } {
    const run = this.#findRun(childId);
    if (run === undefined) throw new CairnError("not-found", `cannot find run ${quote(childId)}`);
    const known = this.#db.find(
      "SELECT created_us FROM source_link WHERE run = ? AND source = ? AND artifact = ?",
      run,
      source,
      artifact,
    );
    if (known !== undefined) return { created: false, createdUs: Number(known[0]) };
    this.#requireRoom(run, childId);
    this.#db.run(
      "INSERT INTO source_link (run, source, artifact, created_us) VALUES (?, ?, ?, ?)",
      run,
      source,
      artifact,
      createdUs,
    );
    return { created: true, createdUs };
  }

  remove(
    { childId, sources, artifact }: Parameters<LineageStore["removeSource"]>[0],
    audit: AuditRecord,
  ): number {
    const { changes } = this.#db.run(
      `DELETE FROM source_link WHERE run = (SELECT key FROM run WHERE id = ?) AND artifact = ?
         AND source IN (SELECT value FROM json_each(?))`,
      childId,
      artifact,
      JSON.stringify(sources),
    );
    if (changes > 0) appendAudit(this.#db, audit);
    return changes;
  }

  ofChild({ childId, artifact, after, limit }: Parameters<LineageStore["listSources"]>[0]): Link[] {
    return this.#page("link.run = (SELECT key FROM run WHERE id = ?)", childId, artifact, after, limit);
  }

  ofSources({ sources, artifact, after, limit }: Parameters<LineageStore["listChildren"]>[0]): Link[] {
    const pages = [...new Set(sources)].map((source) =>
      this.#page("link.source = ?", source, artifact, after, limit),
    );
    if (pages.length === 1) return pages[0]!;
    return pages
      .flat()
      .sort((a, b) => a.number - b.number)
      .slice(0, limit);
  }

  read({ ids, end, among, limit }: ReadLinks): Link[] {
    const values: Value[] = [JSON.stringify(ids)];
    let where = "";
    if (among !== undefined) {
      where = `WHERE ${OTHER_END[end]} IN (SELECT value FROM json_each(?))`;
      values.push(JSON.stringify(among));
    }
    return this.#db
      .all(`SELECT ${COLUMNS} ${FROM[end]} ${ENDS} ${where} LIMIT ?`, ...values, limit)
      .map(toLink);
  }

  artifactsOf({ wanted, modelsMax, artifactsMax }: ReadLinkedArtifacts): {
    artifacts: Artifact[][];
    more: boolean;
  } {
    let left = artifactsMax;
    let more = false;
    const artifacts = wanted.map(({ runId, names }) => {
      const found = this.#artifactsOfRun(runId, names, modelsMax + 1);
      const kept = [...found.named, ...found.models.slice(0, modelsMax)];
      if (found.models.length > modelsMax || kept.length > left) more = true;
      const own = kept.slice(0, left);
      left -= own.length;
      return own;
    });
    return { artifacts, more };
  }

  /** Models that are named are not among `models`. */
  #artifactsOfRun(runId: string, names: readonly string[], modelsMax: number) {
    const run = this.#findRun(runId);
    if (run === undefined) return { named: [], models: [] };
    const artifacts = new Artifacts(this.#db);
    const named = names.flatMap((name) => artifacts.find(run, runId, name, undefined) ?? []);
    const models = artifacts.list(run, { ...MODELS, runId, limit: modelsMax });
    const isNamed = ({ name, step }: Artifact) =>
      named.some((artifact) => artifact.name === name && artifact.step === step);
    return { named, models: models.filter((model) => !isNamed(model)) };
  }

  #page(end: string, value: string, artifact: string | undefined, after: number, limit: number): Link[] {
    const through = artifact === undefined ? "" : "AND link.artifact = ?";
    return this.#db
      .all(
        `SELECT ${COLUMNS} FROM source_link AS link JOIN ${CHILD} ${ENDS}
         WHERE ${end} AND link.id > ? ${through} ORDER BY link.id LIMIT ?`,
        value,
        after,
        ...(artifact === undefined ? [] : [artifact]),
        limit,
      )
      .map(toLink);
  }

  #findRun(id: string): number | undefined {
    const row = this.#db.find("SELECT key FROM run WHERE id = ?", id);
    return row === undefined ? undefined : Number(row[0]);
  }

  #requireRoom(run: number, id: string): void {
    const [count] = this.#db.find("SELECT count(*) FROM source_link WHERE run = ?", run)!;
    if (Number(count) < limits.sourcesPerRunMax) return;
    throw new CairnError(
      "exhausted",
      `cannot add a source to run ${quote(id)}: it has ${Number(count)} of ${limits.sourcesPerRunMax}`,
      {
        reason: "LIMIT_EXCEEDED",
        facts: { limit: String(limits.sourcesPerRunMax) },
        hint: "link one thing that stands for many, such as the list of the files",
      },
    );
  }
}

function toLink(row: Row): Link {
  const [number, childId, childNamespace, source, sourceNamespace, artifact, createdUs] = row;
  return {
    number: Number(number),
    childId: String(childId),
    childNamespace: String(childNamespace),
    source: String(source),
    sourceNamespace: sourceNamespace === null ? undefined : String(sourceNamespace),
    artifact: String(artifact),
    createdUs: Number(createdUs),
  };
}
