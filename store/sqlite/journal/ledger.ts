import { CairnError, quote } from "#lang/errors.ts";
import type { SeqRange } from "#core/types/envelope.ts";
import type { LedgerTotals, RunLedger } from "#core/ports/run-store.ts";
import type { Db, Row } from "../file/db.ts";

/** A writer of one run, as of the transaction in progress. */
export interface Writer {
  id: number;
  run: number;
  name: string;
  lastSeq: number;
  envelopes: number;
  firstUs: number;
  lastUs: number;
  lost: SeqRange[];
}

const COLUMNS = "id, run, name, last_seq, envelopes, first_us, last_us, lost";
const DIGEST_BYTES = 8;
/** In an answer: of a writer besides its name, and of a range. */
const WRITER_BYTES = 64;
const RANGE_BYTES = 24;

export interface DescribedWriters extends Pick<RunLedger, "writers" | "truncated"> {
  unnumbered: number;
  totals: Omit<LedgerTotals, "problems">;
}

/**
 * Remembers which envelopes arrived. Writers touched in a transaction are written back once, by
 * `flush`, however many envelopes they sent. Digests of envelopes that are still in the ingest log
 * are found there; older ones in the digest table.
 */
export class Ledger {
  readonly #db: Db;
  readonly #writers = new Map<string, Writer>();
  readonly #dirty = new Set<Writer>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** undefined when the writer has not written to this run yet. */
  find(run: number, name: string): Writer | undefined {
    const cacheKey = `${run} ${name}`;
    const cached = this.#writers.get(cacheKey);
    if (cached !== undefined) return cached;
    const row = this.#db.find(`SELECT ${COLUMNS} FROM writer WHERE run = ? AND name = ?`, run, name);
    if (row === undefined) return undefined;
    const writer = toWriter(row);
    this.#writers.set(cacheKey, writer);
    return writer;
  }

  create(run: number, name: string, nowUs: number): Writer {
    const { lastId } = this.#db.run(
      `INSERT INTO writer (run, name, last_seq, envelopes, first_us, last_us, lost) VALUES (?, ?, 0, 0, ?, ?, '[]')`,
      run,
      name,
      nowUs,
      nowUs,
    );
    const writer: Writer = {
      id: lastId,
      run,
      name,
      lastSeq: 0,
      envelopes: 0,
      firstUs: nowUs,
      lastUs: nowUs,
      lost: [],
    };
    this.#writers.set(`${run} ${name}`, writer);
    return writer;
  }

  /** Adds an envelope; the numbers it skips have been declared lost. */
  touch(writer: Writer, seq: number, nowUs: number): void {
    if (seq > writer.lastSeq + 1) writer.lost.push({ first: writer.lastSeq + 1, last: seq - 1 });
    writer.lastSeq = Math.max(writer.lastSeq, seq);
    writer.envelopes++;
    writer.lastUs = Math.max(writer.lastUs, nowUs);
    this.#dirty.add(writer);
  }

  flush(): void {
    for (const writer of this.#dirty) {
      this.#db.run(
        "UPDATE writer SET last_seq = ?, envelopes = ?, last_us = ?, lost = ? WHERE id = ?",
        writer.lastSeq,
        writer.envelopes,
        writer.lastUs,
        JSON.stringify(writer.lost.map(({ first, last }) => [first, last])),
        writer.id,
      );
    }
    this.#dirty.clear();
  }

  /** Drops what is only in memory: after a rollback, or to stay small. */
  forget(): void {
    this.#writers.clear();
    this.#dirty.clear();
  }

  forgetRun(run: number): void {
    for (const [cacheKey, writer] of this.#writers) {
      if (writer.run !== run) continue;
      this.#writers.delete(cacheKey);
      this.#dirty.delete(writer);
    }
  }

  get cachedWriters(): number {
    return this.#writers.size;
  }

  /** undefined when the number was declared lost. */
  findDigest(writer: Writer, seq: number): number | undefined {
    // "seq > 0" is what lets SQLite use the index of numbered rows.
    const logged = this.#db.find(
      "SELECT digest FROM log WHERE writer = ? AND seq = ? AND seq > 0",
      writer.id,
      seq,
    );
    if (logged !== undefined) return Number(logged[0]);
    const row = this.#db.find(
      "SELECT first_seq, digests FROM digest WHERE writer = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1",
      writer.id,
      seq,
    );
    if (row === undefined) return undefined;
    const digests = row[1] as Uint8Array;
    const at = (seq - Number(row[0])) * DIGEST_BYTES;
    if (at + DIGEST_BYTES > digests.length) return undefined;
    return new DataView(digests.buffer, digests.byteOffset).getFloat64(at, true);
  }

  /** Keeps the digests of log rows that are about to be deleted, in order of seq. */
  keepDigests(writer: number, entries: readonly { seq: number; digest: number }[]): void {
    let from = 0;
    for (let i = 1; i <= entries.length; i++) {
      if (i < entries.length && entries[i]!.seq === entries[i - 1]!.seq + 1) continue;
      const digests = Float64Array.from(entries.slice(from, i), (entry) => entry.digest);
      this.#db.run(
        "INSERT OR REPLACE INTO digest (writer, first_seq, digests) VALUES (?, ?, ?)",
        writer,
        entries[from]!.seq,
        new Uint8Array(digests.buffer),
      );
      from = i;
    }
  }

  /**
   * The result of `verify` for the writers of a run, without the points. Damaged envelopes are gaps. Once
   * `bytesMax` is used up, writers and their ranges are only counted.
   */
  describe(
    run: number,
    damaged: readonly { writer: number; seq: number }[],
    bytesMax: number,
  ): DescribedWriters {
    const described: DescribedWriters = {
      writers: [],
      unnumbered: 0,
      totals: { envelopes: 0, lastSeq: 0, lost: 0, gaps: 0 },
      truncated: false,
    };
    const damagedOf = Map.groupBy(damaged, ({ writer }) => writer);
    let left = bytesMax;
    const some = (ranges: SeqRange[]): SeqRange[] => {
      const kept = ranges.slice(0, Math.max(0, Math.floor(left / RANGE_BYTES)));
      left -= kept.length * RANGE_BYTES;
      if (kept.length < ranges.length) described.truncated = true;
      return kept;
    };
    for (const row of this.#db.each(`SELECT ${COLUMNS} FROM writer WHERE run = ? ORDER BY name`, run)) {
      const writer = toWriter(row);
      const { id, name, envelopes, lastSeq, lost } = writer;
      if (name === "") {
        described.unnumbered = envelopes;
        continue;
      }
      const seqs = (damagedOf.get(id) ?? []).map(({ seq }) => seq);
      const gaps = this.#gaps(
        writer,
        seqs.filter((seq) => seq > 0 && seq <= lastSeq),
      );
      const { totals } = described;
      totals.envelopes += envelopes;
      totals.lastSeq += lastSeq;
      totals.lost += lost.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      totals.gaps += gaps.length;
      left -= WRITER_BYTES + Buffer.byteLength(name);
      if (left < 0) {
        described.truncated = true;
        continue;
      }
      const { firstUs: firstReceivedUs, lastUs: lastReceivedUs } = writer;
      described.writers.push({
        writer: name,
        envelopes,
        lastSeq,
        lost: some(lost),
        gaps: some(gaps),
        firstReceivedUs,
        lastReceivedUs,
      });
    }
    return described;
  }

  #gaps(writer: Writer, damaged: readonly number[]): SeqRange[] {
    const covered: SeqRange[] = [...writer.lost];
    for (const [first, bytes] of this.#db.each(
      "SELECT first_seq, length(digests) FROM digest WHERE writer = ?",
      writer.id,
    )) {
      covered.push({ first: Number(first), last: Number(first) + Number(bytes) / DIGEST_BYTES - 1 });
    }
    for (const [seq] of this.#db.each("SELECT seq FROM log WHERE writer = ? AND seq > 0", writer.id)) {
      covered.push({ first: Number(seq), last: Number(seq) });
    }
    covered.sort((a, b) => a.first - b.first);
    const gaps: SeqRange[] = [];
    let next = 1;
    for (const { first, last } of covered) {
      if (first > next) gaps.push({ first: next, last: first - 1 });
      next = Math.max(next, last + 1);
    }
    if (next <= writer.lastSeq) gaps.push({ first: next, last: writer.lastSeq });
    gaps.push(...damaged.map((seq) => ({ first: seq, last: seq })));
    return mergeRanges(gaps);
  }
}

/** As few ranges as possible, rising. */
function mergeRanges(ranges: readonly SeqRange[]): SeqRange[] {
  const merged: SeqRange[] = [];
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return merged;
}

/**
 * What a numbered envelope means to a writer that is at `lastSeq`: the next one, or one it sent
 * before. Throws `precondition` (SEQ_GAP) when numbers in between are neither here nor declared lost.
 */
export function placeSeq(
  lastSeq: number,
  envelope: { writer: string; seq: number; lost: readonly SeqRange[] },
): "next" | "known" {
  const { seq, lost } = envelope;
  if (seq <= lastSeq) return "known";
  let expected = lastSeq + 1;
  for (const { first, last } of [...lost].sort((a, b) => a.first - b.first)) {
    if (first <= expected && last >= expected) expected = last + 1;
  }
  if (expected === seq) return "next";
  throw new CairnError(
    "precondition",
    `cannot append envelope ${seq} of writer ${quote(envelope.writer)}: number ${expected} is expected`,
    {
      reason: "SEQ_GAP",
      facts: { expected: String(expected) },
      hint: "send the missing envelopes first, or declare them lost",
    },
  );
}

function toWriter([id, run, name, lastSeq, envelopes, firstUs, lastUs, lost]: Row): Writer {
  return {
    id: Number(id),
    run: Number(run),
    name: String(name),
    lastSeq: Number(lastSeq),
    envelopes: Number(envelopes),
    firstUs: Number(firstUs),
    lastUs: Number(lastUs),
    lost: (JSON.parse(String(lost)) as [number, number][]).map(([first, last]) => ({ first, last })),
  };
}
