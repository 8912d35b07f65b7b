import type { LogFilter } from "../types/log.ts";
import type { LogPage, LogStore } from "../ports/log-store.ts";
import type { Changes } from "./changes.ts";
import { sizeOf } from "../types/size.ts";
import { Lanes } from "#base/lanes.ts";
import { PerWave } from "./per-wave.ts";

const LINES_MAX = 1_000;
const LANES = 4;

/** The namespace of a run as it is now; undefined when it is gone. */
export type FindPlace = (runId: string) => Promise<string | undefined>;

/** Lines of a run, with the position up to which every line is in the log they were read from. */
export interface LinePage {
  page: LogPage;
  position: number;
  /** Where the run was after they were read; undefined without lines, or when it is gone. */
  namespace: string | undefined;
}

/** Reads new lines once for all followers of the same log. */
export class LinePages {
  readonly #logs: LogStore;
  readonly #findPlace: FindPlace;
  readonly #changes: Changes;
  readonly #lanes = new Lanes(LANES);
  readonly #pages: PerWave<Promise<LinePage>>;

  constructor(logs: LogStore, changes: Changes, findPlace: FindPlace) {
    this.#findPlace = findPlace;
    this.#logs = logs;
    this.#changes = changes;
    this.#pages = new PerWave(changes);
  }

  read(runId: string, filter: LogFilter, from: number): Promise<LinePage> {
    const { origin, stream, rank, fromUs, toUs } = filter;
    const key = JSON.stringify([runId, origin, stream, rank, fromUs, toUs, from]);
    return this.#pages.get(key, () => {
      const reading = this.#lanes.run(async () => {
        const { position } = this.#changes;
        const page = await this.#logs.readLog({ runId, filter, from, limit: LINES_MAX });
        return {
          page,
          position,
          namespace: page.lines.length === 0 ? undefined : await this.#findPlace(runId),
        };
      });
      reading.then(
        ({ page }) => this.#pages.grow(key, reading, sizeOf(page.lines)),
        () => undefined,
      );
      return reading;
    });
  }

  /** The number of lines. */
  count(runId: string): Promise<number> {
    return this.#lanes.run(() => this.#logs.lineCount(runId));
  }
}
