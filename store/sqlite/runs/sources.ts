import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { Artifact } from "#core/types/artifact.ts";
import { sizeOf } from "#core/types/size.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import type {
  LineageStore,
  Link,
  ListLinks,
  ReadLinkedArtifacts,
  ReadLinks,
} from "#core/ports/lineage-store.ts";
import type { ListPart, PartBound } from "#core/ports/list-part.ts";
import { Artifacts } from "../artifacts/artifacts.ts";
import { appendAudit } from "../access/audit.ts";
import type { Db, Row, Value } from "../file/db.ts";
import { takePage } from "./page.ts";

const COLUMNS = `link.id, child.id, child_in.path, link.source, source_in.path, link.artifact, link.created_us,
  link.by_text, link.role = 0 AND link.by_text AND EXISTS (SELECT 1 FROM source_link AS other WHERE other.run = link.run
    AND other.source = link.source AND other.artifact = link.artifact AND other.by_text = 0), link.role,
  iif(link.role > 0 AND origin.id <> link.source, origin.id, NULL)`;
const CHILD = "run AS child ON child.key = link.run";
const ENDS = `JOIN namespace AS child_in ON child_in.id = child.namespace
  LEFT JOIN run AS origin ON origin.id = iif(link.role = 0, link.source, ifnull(
    (SELECT id FROM run WHERE id = link.source),
    (SELECT run.id FROM alias JOIN run ON run.key = alias.run
      WHERE alias.alias = link.source AND alias.namespace = child.namespace)))
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

const MODELS = {
  kind: "model",
  prefix: "",
  fromStep: undefined,
  toStep: undefined,
  after: undefined,
} as const;

/** The table of links. Callers wrap writes in a transaction or savepoint. */
export class Sources {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  add(
    link: Parameters<LineageStore["addSource"]>[0],
    audit?: AuditRecord,
  ): { created: boolean; createdUs: number } {
    const { childId, source, artifact, createdUs } = link;
    const byText = Number(link.byText ?? false);
    const run = this.#findRun(childId);
    if (run === undefined) throw new CairnError("not-found", `cannot find run ${quote(childId)}`);
    const known = this.#db.find(
      "SELECT created_us FROM source_link WHERE run = ? AND source = ? AND artifact = ? AND role = 0 AND by_text IN (?, ?)",
      run,
      source,
      artifact,
      byText,
      link.beside === true ? byText : 1 - byText,
    );
    if (known !== undefined) return { created: false, createdUs: Number(known[0]) };
    this.#requireRoom(run, childId);
    this.#db.run(
      "INSERT INTO source_link (run, source, artifact, created_us, by_text, role) VALUES (?, ?, ?, ?, ?, 0)",
      run,
      source,
      artifact,
      createdUs,
      byText,
    );
    if (audit !== undefined) appendAudit(this.#db, audit);
    return { created: true, createdUs };
  }

  remove(
    { childId, sources, artifact, byTextOnly = false }: Parameters<LineageStore["removeSource"]>[0],
    audit: AuditRecord,
  ): number {
    const { changes } = this.#db.run(
      `DELETE FROM source_link WHERE run = (SELECT key FROM run WHERE id = ?) AND artifact = ?
         AND source IN (SELECT value FROM json_each(?)) AND by_text >= ? AND role = 0`,
      childId,
      artifact,
      JSON.stringify(sources),
      Number(byTextOnly),
    );
    if (changes > 0) appendAudit(this.#db, audit);
    return changes;
  }

  ofChild({ childId, ...page }: Parameters<LineageStore["listSources"]>[0]): ListPart<Link> {
    return this.#page("link.run = (SELECT key FROM run WHERE id = ?)", childId, page);
  }

  ofSources({
    sources,
    byTextOnly = false,
    ...page
  }: Parameters<LineageStore["listChildren"]>[0]): ListPart<Link> {
    const end = byTextOnly ? "link.source = ? AND link.by_text = 1" : "link.source = ?";
    const given = new Set(sources);
    const parts = [...given].map((source) => this.#page(end, source, page));
    if (page.withRoles === true && !byTextOnly) {
      // By an alias, provenance names only a run of the same namespace. Aliases of hidden runs reveal nothing.
      const named = this.#aliasesOf([...given]).filter(([alias]) => !given.has(alias));
      for (const [alias, id] of named) {
        parts.push(this.#page("link.source = ? AND link.role > 0 AND origin.id = ?", [alias, id], page));
      }
    }
    if (parts.length === 1) return parts[0]!;
    // Behind the end of a part that was cut off there may be links with lower numbers than others have.
    const ends = parts.filter(({ more }) => more).map(({ rows }) => rows.at(-1)!.number);
    const last = Math.min(...ends);
    const all = parts.flatMap(({ rows }) => rows).sort((a, b) => a.number - b.number);
    const rows = all.filter(({ number }) => number <= last).slice(0, page.limit);
    return { rows, more: rows.length < all.length || ends.length > 0 };
  }

  read({ ids, end, among, ...bound }: ReadLinks): ListPart<Link> {
    const aliases = end === "source" ? this.#aliasesOf(ids).map(([alias]) => alias) : [];
    const values: Value[] = [JSON.stringify([...new Set([...ids, ...aliases])])];
    const conditions: string[] = [];
    if (aliases.length > 0) {
      conditions.push("ifnull(origin.id, link.source) IN (SELECT value FROM json_each(?))");
      values.push(JSON.stringify(ids));
    }
    if (among !== undefined) {
      const other = end === "child" ? "ifnull(origin.id, link.source)" : "child.id";
      conditions.push(`${other} IN (SELECT value FROM json_each(?))`);
      values.push(JSON.stringify(among));
    }
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const sql = `SELECT ${COLUMNS} ${FROM[end]} ${ENDS} ${where} LIMIT ?`;
    return this.#part(sql, values, bound);
  }

  artifactsOf({ wanted, modelsMax, artifactsMax, bytesMax }: ReadLinkedArtifacts): {
    artifacts: Artifact[][];
    more: boolean;
  } {
    let left = artifactsMax;
    let bytesLeft = bytesMax;
    let more = false;
    const cut = () => void (more = true);
    const artifacts = wanted.map(({ runId, names }) => {
      const own: Artifact[] = [];
      // Where nothing has room and that is known, there is nothing more to find out.
      if (more && (left === 0 || bytesLeft === 0)) return own;
      for (const artifact of this.#artifactsOfRun(runId, names, modelsMax, cut)) {
        const size = sizeOf(artifact);
        if (left === 0 || size > bytesLeft) {
          more = true;
          bytesLeft = 0;
          break;
        }
        left--;
        bytesLeft -= size;
        own.push(artifact);
      }
      return own;
    });
    return { artifacts, more };
  }

  /** Those of the names, then the other models; `cut` is called when there are more. */
  *#artifactsOfRun(
    runId: string,
    names: readonly string[],
    modelsMax: number,
    cut: () => void,
  ): Generator<Artifact> {
    const run = this.#findRun(runId);
    if (run === undefined) return;
    const artifacts = new Artifacts(this.#db);
    const placeOf = ({ name, step }: Artifact) => `${step} ${name}`;
    const named = new Set<string>();
    for (const name of names) {
      const artifact = artifacts.find(run, runId, name, undefined);
      if (artifact === undefined) continue;
      named.add(placeOf(artifact));
      yield artifact;
    }
    const bound = { limit: modelsMax + named.size, bytesMax: limits.pageBytesMax };
    const { rows, more } = artifacts.list(run, { ...MODELS, runId, ...bound });
    const models = rows.filter((model) => !named.has(placeOf(model)));
    if (more || models.length > modelsMax) cut();
    yield* models.slice(0, modelsMax);
  }

  #page(
    end: string,
    values: string | readonly string[],
    { artifact, after, withRoles = false, ...bound }: ListLinks,
  ): ListPart<Link> {
    const through = artifact === undefined ? "" : "AND link.artifact = ?";
    const sql = `SELECT ${COLUMNS} FROM source_link AS link JOIN ${CHILD} ${ENDS}
      WHERE ${end} AND link.id > ? ${through} ${withRoles ? "" : "AND link.role = 0"} ORDER BY link.id LIMIT ?`;
    return this.#part(sql, [...[values].flat(), after, ...(artifact === undefined ? [] : [artifact])], bound);
  }

  /** `sql` ends with its limit. */
  #part(sql: string, values: readonly Value[], bound: PartBound): ListPart<Link> {
    const { rows, more } = takePage(this.#db.each(sql, ...values, bound.limit + 1), bound);
    return { rows: rows.map(toLink), more };
  }

  /** Of the runs that are among the ids. */
  #aliasesOf(ids: readonly string[]): [alias: string, id: string][] {
    return this.#db
      .all(
        `SELECT alias.alias, run.id FROM json_each(?) AS wanted CROSS JOIN run ON run.id = wanted.value
           JOIN alias ON alias.run = run.key`,
        JSON.stringify(ids),
      )
      .map(([alias, id]) => [String(alias), String(id)]);
  }

  #findRun(id: string): number | undefined {
    const row = this.#db.find("SELECT key FROM run WHERE id = ?", id);
    return row === undefined ? undefined : Number(row[0]);
  }

  #requireRoom(run: number, id: string): void {
    const [count] = this.#db.find("SELECT count(*) FROM source_link WHERE run = ? AND role = 0", run)!;
    if (Number(count) < limits.sourcesPerRunMax) return;
    throw new CairnError(
      "exhausted",
      `cannot add a source to run ${quote(id)}: it has ${Number(count)} of ${limits.sourcesPerRunMax}`,
      {
        reason: "LIMIT_EXCEEDED",
        facts: { limit: String(limits.sourcesPerRunMax) },
        hint: "link one artifact for many, such as the list of the files",
      },
    );
  }
}

function toLink(row: Row): Link {
  const [
    number,
    childId,
    childNamespace,
    source,
    sourceNamespace,
    artifact,
    createdUs,
    byText,
    isDouble,
    role,
    sourceRun,
  ] = row;
  return {
    number: Number(number),
    childId: String(childId),
    childNamespace: String(childNamespace),
    source: String(source),
    sourceNamespace: sourceNamespace === null ? undefined : String(sourceNamespace),
    artifact: String(artifact),
    createdUs: Number(createdUs),
    byText: byText === 1,
    isDouble: isDouble === 1,
    ...(Number(role) > 0 && { role: Number(role) }),
    ...(sourceRun !== null && { sourceRun: String(sourceRun) }),
  };
}
