import { existsSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { PROBLEMS_MAX, type StoreInfo } from "#core/ports/engine.ts";
import type { RunLedger } from "#core/ports/run-store.ts";
import { Artifacts } from "./artifacts/artifacts.ts";
import { verifyAudit } from "./access/audit.ts";
import type { Db } from "./file/db.ts";
import { renewSecretOf } from "./journal/journal.ts";
import { Ledger } from "./journal/ledger.ts";
import { LinesReader } from "./lines/reader.ts";
import { Namespaces } from "./runs/namespaces.ts";
import { Problems } from "./file/problems.ts";
import { SeriesReader } from "./reader.ts";
import { syncPath } from "./file/restore.ts";
import { Runs } from "./runs/runs.ts";
import { FORMAT_VERSION } from "./file/schema.ts";
import { Tail } from "./journal/tail.ts";
import { describeDamage } from "./file/verify.ts";

/** Everything that only reads. On disk it has a connection and a thread of its own. */
export class StoreReader {
  readonly #file: string;
  readonly #db: Db;
  readonly #tail: Tail;
  readonly series: SeriesReader;
  readonly lines: LinesReader;
  readonly namespaces: Namespaces;
  readonly runs: Runs;
  readonly db: Db;

  /** `writerTail` when the writer shares this connection; a reader of its own keeps its own tail. */
  constructor(file: string, db: Db, writerTail?: Tail) {
    this.#file = file;
    this.#db = db;
    this.db = db;
    this.#tail = writerTail ?? new Tail();
    this.series = new SeriesReader(db, this.#tail, { follows: writerTail === undefined });
    this.lines = new LinesReader(db, { own: writerTail === undefined });
    this.namespaces = new Namespaces(db);
    this.runs = new Runs(db, this.namespaces);
  }

  verifyRun(id: string, bytesMax: number = limits.pageBytesMax): RunLedger {
    return this.series.moment(() => {
      const key = this.runs.getKey(id);
      const damaged = this.series.damagedRows().filter((row) => row.run === key);
      const ledger = new Ledger(this.#db).describe(key, damaged, bytesMax);
      const problems = new Problems();
      const points = this.series.verify(key, (problem) => problems.add(problem));
      for (const row of damaged) problems.add(describeDamage(this.#db, row));
      problems.addAll(this.lines.verify(key));
      problems.addAll(new Artifacts(this.#db).verify(key));
      return {
        writers: ledger.writers,
        totals: { ...ledger.totals, problems: problems.count },
        unnumberedEnvelopes: ledger.unnumbered,
        points,
        problems: problems.first,
        truncated: ledger.truncated || problems.count > problems.first.length,
      };
    });
  }

  info(): StoreInfo {
    return this.series.moment(() => {
      const count = (table: string) => Number(this.#db.find(`SELECT count(*) FROM ${table}`)![0]);
      const [folded] = this.#db.find("SELECT coalesce(sum(count), 0) FROM chunk")!;
      return {
        engine: this.#file === ":memory:" ? "sqlite in memory" : "sqlite",
        formatVersion: FORMAT_VERSION,
        runs: count("run"),
        series: count("series"),
        points: Number(folded) + this.series.loggedPoints(),
        sizeBytes: this.#sizeBytes(),
      };
    });
  }

  checkIntegrity(): { points: number; runs: number; problems: string[] } {
    return this.series.moment(() => {
      const problems = new Problems();
      let points = 0;
      let runs = 0;
      // Where the database itself is damaged, the rest is looked at all the same.
      const check = (work: () => void) => {
        try {
          work();
        } catch (thrown) {
          const { code, message } = CairnError.from(thrown);
          if (code !== "corrupt") throw thrown;
          problems.add(message);
        }
      };
      check(() => {
        const found = this.#db.all(`PRAGMA integrity_check(${PROBLEMS_MAX})`).map(([text]) => String(text));
        problems.addAll(found.filter((text) => text !== "ok"));
      });
      check(() => {
        for (const [key, id] of this.#db.all("SELECT key, id FROM run")) {
          runs++;
          const name = `run ${String(id)}: `;
          check(() => {
            points += this.series.verify(Number(key), (problem) => problems.add(name + problem));
          });
          check(() => {
            problems.addAll(this.lines.verify(Number(key)), name);
            problems.addAll(new Artifacts(this.#db).verify(Number(key)), name);
          });
        }
      });
      check(() => {
        for (const [id, host] of this.#db.all("SELECT id, name FROM host")) {
          const name = `host ${quote(String(host))}: `;
          check(() => {
            points += this.series.verify(-Number(id), (problem) => problems.add(name + problem));
          });
        }
      });
      check(() => {
        for (const row of this.series.damagedRows()) problems.add(describeDamage(this.#db, row));
      });
      check(() => problems.addAll(verifyAudit(this.#db).problems, "audit: "));
      return { points, runs, problems: problems.first };
    });
  }

  /** One statement, hence one moment; writers continue beside it. */
  backup(file: string): void {
    if (existsSync(file)) {
      throw new CairnError("exists", `cannot make backup ${quote(file)}: the file exists`);
    }
    try {
      this.#db.copyTo(file);
      renewSecretOf(file);
      // SQLite leaves that to the caller.
      syncPath(file);
      syncPath(dirname(file));
    } catch (thrown) {
      rmSync(file, { force: true });
      throw thrown;
    }
  }

  #sizeBytes(): number {
    if (this.#file === ":memory:") {
      const [[pages], [size]] = [this.#db.find("PRAGMA page_count")!, this.#db.find("PRAGMA page_size")!];
      return Number(pages) * Number(size);
    }
    const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return sizeOf(this.#file) + sizeOf(`${this.#file}-wal`);
  }
}
