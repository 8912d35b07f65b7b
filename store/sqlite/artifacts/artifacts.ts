import { createHash } from "node:crypto";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { Artifact, ArtifactPlace, ArtifactRecord, UploadedArtifact } from "#core/types/artifact.ts";
import { joinObject } from "#lang/json/object-text.ts";
import type { ArtifactPlaceInRun, ListArtifacts } from "#core/ports/artifact-store.ts";
import type { ListPart } from "#core/ports/list-part.ts";
import { ARTIFACT_COLUMNS, hexOf, NO_STEP, toArtifact } from "./artifact-row.ts";
import type { Db, Row, Value } from "../file/db.ts";
import { rowBytes, takePage } from "../runs/page.ts";
import { ReplacedArtifacts, type Replacement } from "./replaced-artifacts.ts";

/** Behind a prefix it sorts after every name that begins with the prefix: none is long enough to come later. */
const LAST_CHARACTERS = "\u{10ffff}".repeat(limits.artifactNameBytesMax / 4 + 1);

const TABLES = ["artifact", "replaced_artifact"] as const;

/** The artifact table. Callers wrap writes in a transaction or savepoint. */
export class Artifacts {
  readonly #db: Db;
  readonly #replaced: ReplacedArtifacts;

  constructor(db: Db) {
    this.#db = db;
    this.#replaced = new ReplacedArtifacts(db);
  }

  /**
   * Throws `exhausted` unless the run has room for these records, so that an envelope can be checked before
   * anything of it is written.
   */
  requireRoom(run: number, records: readonly { name: string; step: number | undefined }[]): void {
    const [count] = this.#db.find("SELECT count FROM artifact_count WHERE run = ?", run) ?? [0];
    // Most runs are far from the limit, whatever of this is a replacement.
    if (Number(count) + records.length <= limits.artifactsPerRunMax) return;
    const fresh = new Set<string>();
    for (const { name, step } of records) {
      if (!this.#has(run, name, step)) fresh.add(`${step} ${name}`);
    }
    if (Number(count) + fresh.size <= limits.artifactsPerRunMax) return;
    throw new CairnError(
      "exhausted",
      `cannot keep another artifact: the run has ${Number(count)} of ${limits.artifactsPerRunMax}`,
      {
        reason: "LIMIT_EXCEEDED",
        facts: { limit: String(limits.artifactsPerRunMax) },
        hint: "delete some, or put many files into one archive",
      },
    );
  }

  /**
   * `artifact` as it was checked. One of the same name and step is replaced as a whole, and kept where it had other
   * content. With the same content it keeps its author and time.
   */
  put(
    run: number,
    artifact: ArtifactRecord | UploadedArtifact,
    nowUs: number,
    by = "",
  ): { replaced: Replacement | undefined } {
    const { name, step, kind, mediaType, metadata } = artifact;
    const { place, uri, sha256, sizeBytes } = contentOf(artifact);
    const row = this.#find(run, "name = ? AND step = ?", name, step ?? NO_STEP);
    const before = row && toArtifact("", row);
    const same = before !== undefined && isSameContent(before, { place, uri, sha256, sizeBytes });
    let replaced: Replacement | undefined;
    if (before !== undefined && !same) {
      const last = this.#replaced.latest(run, name, step);
      this.#replaced.keep(run, name, step, nowUs, by);
      const version = this.#replaced.latest(run, name, step);
      replaced = { createdBy: before.createdBy, version: version === last ? undefined : version };
    } else if (before !== undefined) {
      this.#db.run(
        "DELETE FROM artifact WHERE run = ? AND name = ? AND step = ?",
        run,
        name,
        step ?? NO_STEP,
      );
    }
    const content = "blob" in artifact ? undefined : artifact.content;
    this.insert(
      [
        run,
        name,
        step ?? NO_STEP,
        kind,
        place,
        uri,
        sha256 === undefined ? null : Buffer.from(sha256, "hex"),
        sizeBytes ?? null,
        mediaType,
        joinObject(metadata),
        same ? before.createdUs : nowUs,
        same ? before.createdBy : by,
      ],
      content,
    );
    return { replaced };
  }

  /** Values as the columns come in the statement. */
  insert(values: readonly Value[], content: Uint8Array | undefined): void {
    const { lastId } = this.#db.run(
      `INSERT INTO artifact (run, name, step, kind, place, uri, sha256, size_bytes, media_type, metadata,
         created_us, created_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...values,
    );
    if (content === undefined) return;
    this.#db.run("INSERT INTO artifact_content (artifact, content) VALUES (?, ?)", lastId, content);
  }

  find(run: number, runId: string, name: string, step: number | undefined): Artifact | undefined {
    const row =
      step === undefined
        ? (this.#find(run, "name = ? AND step = ?", name, NO_STEP) ??
          this.#find(run, "name = ? ORDER BY step DESC", name))
        : this.#find(run, "name = ? AND step = ?", name, step);
    return row === undefined ? undefined : toArtifact(runId, row);
  }

  /** The existing one of exactly this step. */
  getExactly(
    run: number,
    runId: string,
    { name, step }: { name: string; step: number | undefined },
  ): Artifact {
    return toArtifact(runId, this.#find(run, "name = ? AND step = ?", name, step ?? NO_STEP)!);
  }

  getMany(
    places: readonly ArtifactPlaceInRun[],
    bytesMax: number,
  ): { artifacts: Artifact[]; looked: number } {
    const sql = `SELECT ${ARTIFACT_COLUMNS} FROM run JOIN artifact ON artifact.run = run.key
      WHERE run.id = ? AND artifact.name = ? AND step = ?`;
    const artifacts: Artifact[] = [];
    let left = bytesMax;
    for (const [looked, { runId, name, step }] of places.entries()) {
      const row = this.#db.find(sql, runId, name, step ?? NO_STEP);
      if (row === undefined) continue;
      left -= rowBytes(row);
      if (left < 0 && artifacts.length > 0) return { artifacts, looked };
      artifacts.push(toArtifact(runId, row));
    }
    return { artifacts, looked: places.length };
  }

  /** undefined when there is no inline content. Throws `corrupt` when it has another digest. */
  readContent(run: number, { name, step, sha256 }: Artifact): Uint8Array | undefined {
    const row = this.#db.find(
      `SELECT sha256, content FROM artifact JOIN artifact_content ON artifact = id
       WHERE run = ? AND name = ? AND step = ?`,
      run,
      name,
      step ?? NO_STEP,
    );
    if (row === undefined) return undefined;
    const stored = Buffer.from(row[0] as Uint8Array).toString("hex");
    // Replaced since the caller looked.
    if (stored !== sha256) return undefined;
    const content = row[1] as Uint8Array;
    if (createHash("sha256").update(content).digest("hex") === stored) return content;
    throw new CairnError(
      "corrupt",
      `cannot read artifact ${quote(name)}: its stored content has another digest`,
      {
        hint: "record it again, or restore a backup",
      },
    );
  }

  list(
    run: number,
    { runId, prefix, kind, fromStep, toStep, after, ...bound }: ListArtifacts,
  ): ListPart<Artifact> {
    const conditions = ["run = ?"];
    const values: Value[] = [run];
    const add = (condition: string, ...more: Value[]) => {
      conditions.push(condition);
      values.push(...more);
    };
    // Bounds on the name rather than LIKE: they use the index, and the prefix is not a pattern.
    if (prefix !== "") add("name < ?", prefix + LAST_CHARACTERS);
    // One lower bound only: of two, SQLite might seek the lower and step over everything up to the other.
    if (after !== undefined) add("(name, step) > (?, ?)", after.name, after.step ?? NO_STEP);
    else if (prefix !== "") add("name >= ?", prefix);
    if (kind !== undefined) add("kind = ?", kind);
    if (fromStep !== undefined || toStep !== undefined) add("step > ?", NO_STEP);
    if (fromStep !== undefined) add("step >= ?", fromStep);
    if (toStep !== undefined) add("step <= ?", toStep);
    // SQLite would take the index of the names, and step over all other kinds.
    const from = kind === undefined ? "artifact" : "artifact INDEXED BY artifact_kind";
    const sql = `SELECT ${ARTIFACT_COLUMNS} FROM ${from} WHERE ${conditions.join(" AND ")} ORDER BY name, step LIMIT ?`;
    const { rows, more } = takePage(this.#db.each(sql, ...values, bound.limit + 1), bound);
    return { rows: rows.map((row) => toArtifact(runId, row)), more };
  }

  /** Rising by digest, one artifact for each, which may be a replaced one. */
  usedBlobsAfter({ after, limit }: { after: string | undefined; limit: number }): Artifact[] {
    // Of several rows SQLite gives the other columns of the one with the least id.
    const firsts = TABLES.flatMap((table) =>
      this.#db.all(
        `SELECT ${ARTIFACT_COLUMNS}, min(artifact.id), run.id FROM ${table} AS artifact
           JOIN run ON run.key = artifact.run
         WHERE place = 'blob' AND sha256 > ? GROUP BY sha256 ORDER BY sha256 LIMIT ?`,
        Buffer.from(after ?? "", "hex"),
        limit,
      ),
    );
    const byDigest = new Map<string, Artifact>();
    for (const row of firsts) {
      const artifact = toArtifact(String(row.at(-1)), row);
      if (!byDigest.has(artifact.sha256!)) byDigest.set(artifact.sha256!, artifact);
    }
    return [...byDigest.values()].sort((a, b) => (a.sha256! < b.sha256! ? -1 : 1)).slice(0, limit);
  }

  /** One sentence for each damaged inline content of the run. */
  *verify(run: number): Generator<string> {
    const rows = this.#db.each(
      `SELECT name, sha256, content FROM artifact JOIN artifact_content ON artifact = id WHERE run = ?1
       UNION ALL SELECT name, sha256, content FROM replaced_artifact WHERE run = ?1 AND content IS NOT NULL`,
      run,
    );
    for (const [name, sha256, content] of rows) {
      const digest = createHash("sha256")
        .update(content as Uint8Array)
        .digest("hex");
      if (digest !== hexOf(sha256)) yield `artifact ${quote(String(name))} is damaged`;
    }
  }

  unusedBlobs(limit: number): string[] {
    return this.#db.all("SELECT sha256 FROM unused_blob LIMIT ?", limit).map(([digest]) => hexOf(digest)!);
  }

  usedBlobs(digests: readonly string[]): string[] {
    const isIn = (table: string, digest: string) =>
      this.#db.find(
        `SELECT 1 FROM ${table} WHERE place = 'blob' AND sha256 = ? LIMIT 1`,
        Buffer.from(digest, "hex"),
      ) !== undefined;
    return digests.filter((digest) => TABLES.some((table) => isIn(table, digest)));
  }

  forgetUnusedBlobs(digests: readonly string[]): void {
    for (const digest of digests) {
      this.#db.run("DELETE FROM unused_blob WHERE sha256 = ?", Buffer.from(digest, "hex"));
    }
  }

  #has(run: number, name: string, step: number | undefined): boolean {
    return this.#find(run, "name = ? AND step = ?", name, step ?? NO_STEP) !== undefined;
  }

  #find(run: number, condition: string, ...values: Value[]): Row | undefined {
    return this.#db.find(
      `SELECT ${ARTIFACT_COLUMNS} FROM artifact WHERE run = ? AND ${condition} LIMIT 1`,
      run,
      ...values,
    );
  }
}

/** Whether nothing is lost when one replaces the other: bytes may be in the row or in a blob. */
function isSameContent(before: Artifact, after: ReturnType<typeof contentOf>): boolean {
  const isStored = before.place !== "reference";
  if (isStored !== (after.place !== "reference")) return false;
  return before.sha256 === after.sha256 && before.sizeBytes === after.sizeBytes && before.uri === after.uri;
}

function contentOf(artifact: ArtifactRecord | UploadedArtifact): {
  place: ArtifactPlace;
  uri: string;
  sha256: string | undefined;
  sizeBytes: number | undefined;
} {
  if ("blob" in artifact) {
    return { place: "blob", uri: "", sha256: artifact.blob.digest, sizeBytes: artifact.blob.sizeBytes };
  }
  const { uri, sha256, sizeBytes } = artifact;
  return { place: uri === undefined ? "inline" : "reference", uri: uri ?? "", sha256, sizeBytes };
}
