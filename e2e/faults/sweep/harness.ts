/**
 * Runs under the shim, in a process of its own: in each trial it lets one call on a file fail while a workload writes
 * to real stores, and checks that everything acknowledged is there.
 *
 *     node harness.ts FOLDER WORKLOAD TRIALS…
 *
 * TRIALS is 101-110, where N decides how the Nth call fails, or a list such as 7/eio/pwrite,44/sync/fsync: the first
 * call of that name from the Nth call on fails in that way. Prints a JSON line for each trial that went wrong, and one
 * at the end about all. Those of one argument share a data directory, which each of them leaves ready for the next.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { shim, type FaultKind, type FaultStatus } from "../shim.ts";
import { ArtifactsWorkload } from "./artifacts.ts";
import { GrantsWorkload } from "./grants.ts";
import { PointsWorkload } from "./points.ts";
import { openStores, type OpenStores } from "./stores.ts";
import { isRefusal, type Workload } from "./workload.ts";

/** A trial that went wrong. */
export interface FaultTrial {
  workload: string;
  /** The argument that leads to it when run alone. */
  trials: string;
  nth: number;
  kind: FaultKind;
  hit: string;
  problem: string;
}

export interface SweepSummary {
  trials: number;
  acknowledged: number;
  refused: number;
  opened: number;
}

interface Planned {
  nth: number;
  kind: FaultKind;
  /** Any that the kind can hit when undefined. */
  call: string | undefined;
}

const WORKLOADS: Record<string, () => Workload> = {
  points: () => new PointsWorkload(),
  artifacts: () => new ArtifactsWorkload(),
  grants: () => new GrantsWorkload(),
};

/** Every N has one of them, every fifth N the same; workloads begin at different ones. */
const KINDS: readonly FaultKind[] = ["eio", "enospc", "torn", "sync", "short"];
const TURNS_MAX = 2_000;
/** How many more operations are tried once something has failed. */
const TURNS_AFTER = 3;
const FULL_CALLS = 20;
/** In every so many trials opening fails as well, at one of so many calls. */
const OPEN_EVERY = 4;
const OPEN_CALLS = 50;

enableCompileCache();

class Sweep {
  readonly #workload: Workload;
  readonly #directory: string;
  readonly #summary: SweepSummary;
  #stores: OpenStores | undefined;
  #turn = 0;

  constructor(workload: Workload, directory: string, summary: SweepSummary) {
    this.#workload = workload;
    this.#directory = directory;
    this.#summary = summary;
  }

  async begin(): Promise<void> {
    shim.watch(this.#directory);
    await this.#open();
  }

  async end(): Promise<void> {
    shim.off();
    await this.#close();
  }

  /** Throws when something is not as it must be. */
  async trial({ nth, kind, call }: Planned): Promise<void> {
    this.#summary.trials++;
    // A full disk stays full for a while, or only for a moment.
    shim.arm(kind, nth, kind === "enospc" && nth % 2 === 0 ? FULL_CALLS : 1, call);
    await this.#actUntilHit(kind);
    if (kind === "torn") return this.#reopen(nth, kind);
    const file = this.#fileOf(shim.off());
    if (kind === "enospc" || kind === "short") return this.#goOn();
    if (kind === "sync" && (await this.#act()) === "acknowledged" && this.#needs(file)) {
      throw new Error("something was acknowledged later, after a sync had failed");
    }
    // Whatever the store thinks of its disk, it reads on.
    await this.#workload.check(false);
    // Every other time it has no chance to tidy up, as if it were killed.
    if (nth % 2 === 0) shim.arm("die", 1);
    await this.#reopen(nth, kind);
  }

  async #actUntilHit(kind: FaultKind): Promise<void> {
    let left = TURNS_AFTER;
    for (let i = 0; left > 0; i++) {
      if (i > TURNS_MAX) throw new Error("the workload is too short: nothing was hit");
      const before = shim.status().hits > 0;
      const outcome = await this.#act();
      const after = shim.status();
      if (after.hits > 0) left--;
      if (outcome === "refused") {
        if (after.hits === 0) throw new Error("something was refused before anything failed");
        if (kind === "short") throw new Error("a short write was not repeated");
        continue;
      }
      if (kind === "torn" && before) throw new Error("something was acknowledged by a dead disk");
      if (kind !== "sync" || after.hits === 0) continue;
      if ((before || this.#workload.endsWithAck) && this.#needs(this.#fileOf(after))) {
        throw new Error("something was acknowledged although a sync had failed");
      }
    }
  }

  /** Whether the last turn writes to that file. */
  #needs(file: string): boolean {
    return this.#workload.needs(this.#turn - 1, file);
  }

  async #act(): Promise<"acknowledged" | "refused"> {
    try {
      await this.#workload.act(this.#turn++);
      this.#summary.acknowledged++;
      return "acknowledged";
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      this.#summary.refused++;
      return "refused";
    }
  }

  /** The same stores stay open. */
  async #goOn(): Promise<void> {
    for (let i = 0; i < TURNS_AFTER; i++) await this.#workload.act(this.#turn++);
    await this.#workload.check(true);
  }

  async #reopen(nth: number, kind: FaultKind): Promise<void> {
    await this.#close();
    shim.off();
    if (nth % OPEN_EVERY === 0) await this.#openFailing(nth, kind);
    await this.#open();
    await this.#workload.check(true);
    const { problems } = await this.#stores!.store.checkIntegrity();
    if (problems.length > 0) throw new Error(`the integrity check says: ${problems.join("; ")}`);
    await this.#goOn();
  }

  /** The disk fails while the stores are opened, or while they are closed again. */
  async #openFailing(nth: number, kind: FaultKind): Promise<void> {
    shim.arm(kind, 1 + ((nth / OPEN_EVERY) % OPEN_CALLS));
    try {
      const stores = await openStores(this.#directory);
      await stores.close();
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
    }
    shim.off();
  }

  /** With a dead disk closing may fail as well, and must end all the same. */
  async #close(): Promise<void> {
    const stores = this.#stores;
    if (stores === undefined) return;
    this.#stores = undefined;
    for (const close of [() => this.#workload.end(), () => stores.close()]) {
      await close().catch((thrown: unknown) => {
        if (!isRefusal(thrown)) throw thrown;
      });
    }
  }

  async #open(): Promise<void> {
    this.#stores = await openStores(this.#directory);
    this.#summary.opened++;
    await this.#workload.begin(this.#stores);
  }

  #fileOf({ path }: FaultStatus): string {
    return path.slice(this.#directory.length + 1);
  }
}

/** The trials of an argument. `kindsFrom` is the kind of the first in a range. */
function plan(trials: string, kindsFrom: number): Planned[] {
  const range = /^(\d+)-(\d+)$/.exec(trials);
  if (range === null) {
    return trials.split(",").map((trial) => {
      const [nth, kind, call] = trial.split("/");
      return { nth: Number(nth), kind: kind as FaultKind, call };
    });
  }
  const [first, last] = range.slice(1).map(Number);
  return Array.from({ length: last! - first! + 1 }, (_, i) => {
    const nth = first! + i;
    return { nth, kind: KINDS[(nth + kindsFrom) % KINDS.length]!, call: undefined };
  });
}

const [, , folder, name, ...args] = process.argv;
const make = WORKLOADS[name!];
if (make === undefined) throw new Error(`there is no workload ${name}`);
const summary: SweepSummary = { trials: 0, acknowledged: 0, refused: 0, opened: 0 };
for (const trials of args) {
  const directory = mkdtempSync(join(folder!, "data-"));
  const sweep = new Sweep(make(), directory, summary);
  await sweep.begin();
  for (const planned of plan(trials, Object.keys(WORKLOADS).indexOf(name!))) {
    try {
      await sweep.trial(planned);
    } catch (thrown) {
      const { seen, call, path } = shim.status();
      const hit = call === "" ? `nothing in ${seen} calls` : `${call} of ${path}`;
      const problem = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      const { nth, kind } = planned;
      const trial: FaultTrial = { workload: name!, trials, nth, kind, hit, problem };
      process.stdout.write(`${JSON.stringify(trial)}\n`);
      // The next trial cannot use the directory of a broken one.
      break;
    }
  }
  await sweep.end();
  rmSync(directory, { recursive: true });
}
process.stdout.write(`${JSON.stringify(summary)}\n`);
