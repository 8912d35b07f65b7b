import { ByteReader } from "#base/codec/byte-reader.ts";
import { NumberColumns, readBlock } from "#base/codec/block.ts";
import { withFacts } from "#core/access/audit/audit-record.ts";
import { CairnError, quote } from "#lang/errors.ts";
import type { ArtifactRecord } from "#core/types/artifact.ts";
import type { EnvelopeAck, SeqRange } from "#core/types/envelope.ts";
import type { HostName } from "#core/types/host.ts";
import type { RunChange } from "#core/types/run.ts";
import { ENDED } from "#lang/statuses.ts";
import type { Points, SeriesKind } from "#core/types/series.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import { CHANGED, RUN_MOVED, type EnvelopeAudit } from "#core/ports/journal.ts";
import { overwrittenFields } from "#core/runs/run-difference.ts";
import { addPoints, summarize } from "#core/series/state.ts";
import type { Artifacts } from "../artifacts/artifacts.ts";
import { appendAudit } from "../access/audit.ts";
import { requireKind, type Catalog, type SeriesEntry } from "../series/catalog.ts";
import { CHUNKS_MAX, readablePieces } from "../series/chunks.ts";
import { Hosts } from "../series/hosts.ts";
import type { Db } from "../file/db.ts";
import { placeSeq, type Ledger, type Writer } from "./ledger.ts";
import { Repeats } from "./repeats.ts";
import type { Lines } from "../lines/lines.ts";
import type { PackedLines } from "../lines/pack.ts";
import { headCrc, LOG_COLUMNS } from "./log.ts";
import { replacementRecord } from "../artifacts/replaced-artifacts.ts";
import type { JournalWriter } from "./journal.ts";
import type { Namespaces } from "../runs/namespaces.ts";
import type { Runs } from "../runs/runs.ts";
import type { RecentSeries } from "../series/recent-series.ts";
import type { LogRow, Tail } from "./tail.ts";

/** An envelope as it is sent to the storage thread: the points are log blocks already. */
export interface PackedEnvelope {
  /** undefined for an envelope of a host. */
  runId: string | undefined;
  namespace: string | undefined;
  host: HostName | undefined;
  writer: string;
  seq: number;
  lost: readonly SeqRange[];
  change: RunChange | undefined;
  /** One per block, as seriesName makes them. */
  names: readonly string[];
  kinds: readonly SeriesKind[];
  body: Uint8Array;
  points: number;
  digest: number;
  /** Of the content that `digest` is of; undefined unless a repeated one is to be dropped. */
  hash: Uint8Array | undefined;
  crc: number;
  nowUs: number;
  /** undefined when there is nothing of it. */
  extras: PackedExtras | undefined;
  audit: EnvelopeAudit | undefined;
}

/** What an envelope may carry besides points and a change of the run. */
export interface PackedExtras {
  lines: readonly PackedLines[];
  artifacts: readonly ArtifactRecord[];
}

/** `position` is that of its change in the journal; undefined when it changed nothing that followers are notified of. */
export interface Appended {
  ack: EnvelopeAck;
  position: number | undefined;
}

/** What the storage thread does with one envelope: look first, then write. */
export class Appender {
  readonly #db: Db;
  readonly #runs: Runs;
  readonly #ledger: Ledger;
  readonly #catalog: Catalog;
  readonly #tail: Tail;
  readonly #lines: Lines;
  readonly #artifacts: Artifacts;
  readonly #journal: JournalWriter;
  readonly #places = new Map<string, ReturnType<Runs["getPlace"]>>();
  readonly #columns = new NumberColumns();
  readonly #recent: RecentSeries;
  readonly #repeats: Repeats;
  readonly #namespaces: Namespaces;
  readonly #hosts: Hosts;

  constructor(parts: {
    db: Db;
    namespaces: Namespaces;
    runs: Runs;
    ledger: Ledger;
    catalog: Catalog;
    tail: Tail;
    lines: Lines;
    artifacts: Artifacts;
    journal: JournalWriter;
    recent: RecentSeries;
  }) {
    this.#db = parts.db;
    this.#runs = parts.runs;
    this.#ledger = parts.ledger;
    this.#catalog = parts.catalog;
    this.#tail = parts.tail;
    this.#lines = parts.lines;
    this.#artifacts = parts.artifacts;
    this.#journal = parts.journal;
    this.#recent = parts.recent;
    this.#repeats = new Repeats(parts.db);
    this.#namespaces = parts.namespaces;
    this.#hosts = new Hosts(parts.db);
  }

  /**
   * Throws before anything has changed, so a refused envelope leaves no trace. A failure of the
   * storage itself may strike later; the whole transaction is then rolled back.
   */
  append(envelope: PackedEnvelope): Appended {
    const { seq, change, hash, nowUs, points, host } = envelope;
    if (host !== undefined) return this.#appendToHost(host, envelope);
    const run = this.#runKey(envelope.runId!, envelope.namespace);
    if (hash !== undefined && this.#repeats.has(run, hash, nowUs)) {
      return { ack: { seq, duplicate: true, points }, position: undefined };
    }
    const writer = this.#ledger.find(run, envelope.writer);
    if (envelope.writer !== "" && placeSeq(writer?.lastSeq ?? 0, envelope) === "known") {
      this.#requireSame(writer!, envelope);
      return { ack: { seq, duplicate: true, points }, position: undefined };
    }
    const missing = this.#look(run, envelope);
    if (change !== undefined) {
      this.#db.savepoint(() => this.#change(run, change, nowUs, envelope.audit?.change));
    }
    let position: number | undefined;
    try {
      position = this.#write(run, writer, envelope, missing);
    } catch (cause) {
      throw halfWritten(cause);
    }
    return { ack: { seq, duplicate: false, points }, position };
  }

  /** Without a writer: a host has neither numbers nor replaced points. */
  #appendToHost(host: HostName, envelope: PackedEnvelope): Appended {
    const { seq, points, names, nowUs } = envelope;
    const known = this.#hosts.findKey(host);
    if (known === undefined) this.#hosts.requireRoom(host);
    this.#namespaces.trash.requireOutside("write to", host.namespace);
    const missing = this.#look(known ?? NO_OWNER, envelope);
    const before = this.#tail.lastPos;
    let position: number | undefined;
    try {
      const key = known ?? this.#hosts.create(host, this.#namespaces, nowUs);
      // Followers are notified of a new namespace, but not of the points.
      if (this.#tail.lastPos > before) position = this.#tail.lastPos;
      if (known !== undefined) this.#hosts.touch(key, nowUs);
      this.#createSeries(key, missing);
      const entries = names.map((name) => this.#catalog.find(key, name)!);
      this.#journal.note(key, NOTHING_CHANGED, this.#log(key, NO_WRITER, envelope, entries));
    } catch (cause) {
      throw halfWritten(cause);
    }
    return { ack: { seq, duplicate: false, points }, position };
  }

  forget(): void {
    this.#places.clear();
  }

  #runKey(runId: string, namespace: string | undefined): number {
    let place = this.#places.get(runId);
    if (place === undefined) this.#places.set(runId, (place = this.#runs.getPlace(runId)));
    if (namespace !== undefined && namespace !== place.namespace) throw runMoved("append to", runId);
    if (place.isTrashed) this.#namespaces.trash.requireOutside("write to", place.namespace);
    return place.key;
  }

  #requireSame(writer: Writer, envelope: PackedEnvelope): void {
    if (this.#ledger.findDigest(writer, envelope.seq) === envelope.digest) return;
    throw new CairnError(
      "exists",
      `cannot append envelope ${envelope.seq} of writer ${quote(writer.name)}: that number was used for other content`,
      {
        reason: "SEQ_REUSED",
        facts: { last: String(writer.lastSeq) },
        hint: "two processes may share a writer name; each needs its own",
      },
    );
  }

  /** Series that must be created. Throws when a series cannot accept the points, or the run the artifacts. */
  #look(run: number, { names, kinds, extras }: PackedEnvelope): ReadonlyMap<string, SeriesKind> {
    if (extras !== undefined && extras.artifacts.length > 0) {
      this.#artifacts.requireRoom(run, extras.artifacts);
    }
    const missing = new Map<string, SeriesKind>();
    for (let i = 0; i < names.length; i++) {
      const entry = this.#catalog.find(run, names[i]!);
      if (entry !== undefined) {
        requireKind(entry.key, entry.state.kind, kinds[i]!);
        if (entry.chunks > CHUNKS_MAX) throw tooManyPieces(entry);
      } else {
        requireKind(names[i]!, missing.get(names[i]!) ?? kinds[i]!, kinds[i]!);
        missing.set(names[i]!, kinds[i]!);
      }
    }
    if (missing.size > 0) this.#catalog.requireRoom(run, missing.size);
    return missing;
  }

  #write(
    run: number,
    known: Writer | undefined,
    envelope: PackedEnvelope,
    missing: ReadonlyMap<string, SeriesKind>,
  ): number | undefined {
    const { names, seq, hash, nowUs } = envelope;
    if (hash !== undefined) this.#repeats.add(run, hash, nowUs);
    this.#createSeries(run, missing);
    const writer = known ?? this.#ledger.create(run, envelope.writer, nowUs);
    this.#ledger.touch(writer, seq, nowUs);
    if (envelope.extras !== undefined) this.#writeExtras(run, envelope.extras, envelope);
    const what = changedBy(envelope);
    if (names.length === 0 && seq === 0) return what === 0 ? undefined : this.#journal.note(run, what);
    const entries = names.map((name) => this.#catalog.find(run, name)!);
    return this.#journal.note(run, what, this.#log(run, writer.id, envelope, entries));
  }

  #createSeries(run: number, missing: ReadonlyMap<string, SeriesKind>): void {
    if (missing.size === 0) return;
    this.#catalog.reserve(run, missing.size);
    for (const [name, kind] of missing) this.#catalog.create(run, name, kind);
  }

  /** Changes of a writer to its own run are ordinary; overwrites after the end are audited. */
  #change(run: number, change: RunChange, nowUs: number, audit: AuditRecord | undefined): void {
    const { before, run: after } = this.#runs.update(run, change, nowUs, audit?.principal);
    if (audit === undefined || !ENDED.has(before.status) || before.status === "lost") return;
    const fields = overwrittenFields(before, after);
    if (fields.length > 0) appendAudit(this.#db, withFacts(audit, { fields: fields.join(" ") }));
  }

  #writeExtras(run: number, { lines, artifacts }: PackedExtras, { nowUs, audit }: PackedEnvelope): void {
    if (lines.length > 0) this.#lines.append(run, lines, nowUs);
    for (const [i, artifact] of artifacts.entries()) {
      const record = audit?.artifacts[i];
      const { replaced } = this.#artifacts.put(run, artifact, nowUs, record?.principal);
      const isOthers = replaced !== undefined && replaced.createdBy !== record?.principal;
      if (record !== undefined && isOthers) appendAudit(this.#db, replacementRecord(record, replaced));
    }
  }

  #log(run: number, writer: number, envelope: PackedEnvelope, entries: readonly SeriesEntry[]): number {
    const series = Uint32Array.from(entries, (entry) => entry.id);
    const { seq, digest, crc, body } = envelope;
    const pos = this.#tail.lastPos + 1;
    const row: LogRow = { pos, run, writer, seq, digest, series, body, damage: undefined };
    const ids = new Uint8Array(series.buffer);
    this.#db.run(
      `INSERT INTO log (${LOG_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      pos,
      run,
      writer,
      seq,
      digest,
      crc,
      headCrc(row, ids),
      ids,
      body,
    );
    this.#tail.push(row);
    this.take(row, entries);
    return pos;
  }

  /**
   * Brings the series a log row touches up to date with it, also when a log is read back. Returns how
   * many points the row holds.
   */
  take(row: LogRow, entries: readonly (SeriesEntry | undefined)[]): number {
    const reader = new ByteReader(row.body);
    let count = 0;
    let rewound: Set<SeriesEntry> | undefined;
    for (const entry of entries) {
      const points = this.#read(reader);
      count += points.count;
      if (entry === undefined || entry.foldedPos >= row.pos) continue;
      if (addPoints(entry.state, points, row.writer)) (rewound ??= new Set()).add(entry);
      // No follower is sent series of hosts.
      if (entry.run > 0) this.#recent.touch(entry, row.pos);
    }
    // Only now: a series may be in the row more than once.
    for (const entry of rewound ?? []) {
      summarize(entry.state, readablePieces(this.#db, entry, this.#tail));
    }
    return count;
  }

  /** The block at the reader. A view that is good until the next one is read. */
  #read(reader: ByteReader): Points {
    this.#columns.clear();
    return this.#columns.add(reader) ? this.#columns.points() : readBlock(reader);
  }
}

/** Of a host: an owner that is not there yet has no series; no writer and no change have these numbers. */
const NO_OWNER = 0;
const NO_WRITER = 0;
const NOTHING_CHANGED = 0;

/** Half of an envelope may be there: whatever went wrong, the transaction must not be committed. */
function halfWritten(cause: unknown): unknown {
  const { code, message, reason } = CairnError.from(cause);
  if (code === "unavailable") return cause;
  return new CairnError("unavailable", message, { cause, ...(reason !== undefined && { reason }) });
}

/** Of CHANGED. */
function changedBy({ names, change, extras }: PackedEnvelope): number {
  let what = names.length > 0 ? CHANGED.points : 0;
  if (change !== undefined) what |= CHANGED.run;
  if (extras === undefined) return what;
  if (extras.lines.length > 0) what |= CHANGED.lines;
  if (extras.artifacts.length > 0) what |= CHANGED.artifacts;
  return what;
}

export function runMoved(verb: string, runId: string): CairnError {
  return new CairnError("precondition", `cannot ${verb} run ${quote(runId)}: it was moved meanwhile`, {
    reason: RUN_MOVED,
  });
}

/** Points with and without a step or time lie apart, so a client that alternates makes very many pieces. */
function tooManyPieces(entry: SeriesEntry): CairnError {
  return new CairnError("exhausted", `cannot append to series ${quote(entry.key)}: it has too many pieces`, {
    reason: "LIMIT_EXCEEDED",
    hint: "give all points of a series a step and a time, or none",
  });
}
