import type { CairnError } from "#lang/errors.ts";
import type { Catalog } from "./catalog.ts";
import { foldSeries } from "./chunks.ts";
import type { Background } from "../committer.ts";
import type { Db } from "../file/db.ts";
import type { Ledger } from "../journal/ledger.ts";
import { LOG_COLUMNS, lostIn } from "../journal/log.ts";
import type { LogRow, Tail } from "../journal/tail.ts";

const POINTS_MIN = 256 * 1024;
const POINTS_MAX = 2 * 1024 * 1024;
const POINTS_PER_SERIES = 1024;
const BLOCKS_MAX = 512 * 1024;
const INDEX_ROWS = 64;
const DELETE_ROWS = 64;

type Phase = { name: "idle" } | { name: "index"; through: number } | Folding | Deleting;
interface Folding {
  name: "fold";
  through: number;
  pending: number[];
}
interface Deleting {
  name: "delete";
  through: number;
  rows: LogRow[];
}

/**
 * Moves the log into chunks, a slice at a time, in the transactions of the writer. Each series is
 * folded as a whole with everything the log holds of it and remembers how far (`folded_pos`), so the
 * work may stop after any slice; log rows go once all their series are past them.
 */
export class Fold implements Background {
  readonly #db: Db;
  readonly #catalog: Catalog;
  readonly #ledger: Ledger;
  readonly #tail: Tail;
  #phase: Phase = { name: "idle" };
  #points = 0;
  #blocks = 0;
  #wanted = false;
  #failure: CairnError | undefined;

  constructor(parts: { db: Db; catalog: Catalog; ledger: Ledger; tail: Tail }) {
    this.#db = parts.db;
    this.#catalog = parts.catalog;
    this.#ledger = parts.ledger;
    this.#tail = parts.tail;
  }

  /** Counts what came into the log since the last fold began. */
  count(points: number, blocks: number): void {
    this.#points += points;
    this.#blocks += blocks;
  }

  /** Folds at the next chance, however little there is. */
  request(): void {
    this.#wanted = true;
    this.#failure = undefined;
  }

  /** After a failure that is not the storage's: waits for the next request, so that writes continue. */
  pause(cause: CairnError): void {
    this.#failure = cause;
  }

  /** Why it waits. */
  get failure(): CairnError | undefined {
    return this.#failure;
  }

  reset(): void {
    this.#phase = { name: "idle" };
    this.#points = 0;
    this.#blocks = 0;
  }

  get due(): boolean {
    if (this.#failure !== undefined) return false;
    if (this.#phase.name !== "idle") return true;
    if (this.#tail.isEmpty) {
      this.#wanted = false;
      return false;
    }
    // More series need more points per fold, or every fold would rewrite half-empty chunks.
    const threshold = Math.min(POINTS_MAX, Math.max(POINTS_MIN, this.#catalog.size * POINTS_PER_SERIES));
    return this.#wanted || this.#points >= threshold || this.#blocks >= BLOCKS_MAX;
  }

  slice(budgetMs: number): boolean {
    const deadline = performance.now() + budgetMs;
    while (this.due) {
      this.#step();
      if (performance.now() >= deadline) return this.due;
    }
    return false;
  }

  #step(): void {
    const phase = this.#phase;
    switch (phase.name) {
      case "idle":
        this.#wanted = false;
        this.#points = 0;
        this.#blocks = 0;
        this.#phase = { name: "index", through: this.#tail.lastPos };
        return;
      case "index":
        if (this.#tail.indexSome(phase.through, INDEX_ROWS)) return;
        this.#phase = { name: "fold", through: phase.through, pending: this.#seriesThrough(phase.through) };
        return;
      case "fold":
        if (phase.pending.length > 0) this.#foldOne(phase.pending.pop()!);
        else this.#beginDelete(phase.through);
        return;
      case "delete":
        this.#deleteSome(phase);
        return;
    }
  }

  #seriesThrough(pos: number): number[] {
    const found = new Set(this.#tail.seriesThrough(pos));
    // A damaged head may have named any series of its run.
    for (const { run, damage } of this.#tail.damaged) {
      if (damage !== "head") continue;
      for (const [id] of this.#db.all("SELECT id FROM series WHERE run = ?", run)) found.add(Number(id));
    }
    return [...found];
  }

  #foldOne(series: number): void {
    const entry = this.#catalog.findById(series);
    if (entry === undefined) return;
    for (const row of this.#tail.damageOf(entry)) {
      entry.damaged = lostIn(row);
      this.#keepDamaged(row);
    }
    foldSeries(this.#db, entry, this.#tail);
    entry.foldedPos = this.#tail.lastPos;
    this.#catalog.save(entry);
  }

  #beginDelete(through: number): void {
    const rows = this.#tail.rows.filter((row) => row.pos <= through);
    const damaged = this.#tail.damaged.filter((row) => row.pos <= through);
    const byWriter = Map.groupBy(
      [...rows, ...damaged].filter((row) => row.seq > 0 && row.damage !== "head"),
      (row) => row.writer,
    );
    for (const [writer, entries] of byWriter) {
      this.#ledger.keepDigests(
        writer,
        entries.sort((a, b) => a.seq - b.seq),
      );
    }
    for (const row of damaged) if (row.damage === "head") this.#keepDamaged(row);
    this.#phase = { name: "delete", through, rows: rows.reverse() };
  }

  /** The row is moved out of the log unchanged, so that it can be reported and perhaps repaired. */
  #keepDamaged({ pos }: LogRow): void {
    this.#db.run(
      `INSERT OR REPLACE INTO damaged_log (${LOG_COLUMNS}) SELECT ${LOG_COLUMNS} FROM log WHERE pos = ?`,
      pos,
    );
  }

  #deleteSome(phase: Deleting): void {
    const [last] = phase.rows.splice(-DELETE_ROWS);
    if (phase.rows.length > 0) {
      this.#db.run("DELETE FROM log WHERE pos <= ?", last!.pos);
      return;
    }
    this.#db.run("DELETE FROM log WHERE pos <= ?", phase.through);
    this.#tail.dropThrough(phase.through);
    this.#phase = { name: "idle" };
  }
}
