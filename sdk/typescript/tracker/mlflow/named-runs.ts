/**
 * MLflow finds runs by its own ids, TorchX by names, and MLflow lets any number of runs have one name. So ranks that
 * start at the same time must agree on one run without anything in MLflow that could be locked:
 *
 * 1. Each makes a run that is marked as a claim.
 * 2. It looks at all runs of the name. When one is settled (has no mark), or a claim with a smaller id is there, it
 *    deletes its own and takes the other's. Else it settles its own by removing the mark,
 * 3. and looks again: a settled one with a smaller id wins, and a smaller claim is waited for.
 *
 * A process that makes a claim after another's second look sees that one settled, and a claim made before is seen in
 * that look. So two never keep a run each. A claim whose owner died is settled by a process that waits for it.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isTransient } from "../../retry.ts";
import { hasReason, MLflowError } from "./mlflow-error.ts";
import type { MLflowRest } from "./mlflow-rest.ts";
import { tagsOf, type MLflowRun } from "./mlflow-types.ts";

const CLAIM_TAG = "torchx.claim";
const CLAIM_MS_MAX = 60_000;
/** A claim that is older than this is of a process that died. */
const PATIENCE_MS = 5_000;
/** Of two settled runs that are older, no process is about to give way. */
const SETTLING_MS_MAX = 60_000;
const GIVING_WAY_MS = 10_000;
const POLL_MS = 100;
const PAGE_RUNS = 1_000;
/** What a filter of MLflow cannot quote. */
// oxlint-disable-next-line no-control-regex
const UNQUOTABLE = /['\\\u0000-\u001f]/;

/** Runs of one experiment by their names. */
export class NamedRuns {
  readonly #rest: MLflowRest;
  readonly #experimentId: string;
  readonly #experimentName: string;
  readonly #userName: string;

  constructor(rest: MLflowRest, experiment: { id: string; name: string }, userName: string) {
    this.#rest = rest;
    this.#experimentId = experiment.id;
    this.#experimentName = experiment.name;
    this.#userName = userName;
  }

  /** All that are not deleted, the oldest first; `filter` is one of MLflow's. */
  search(filter = ""): AsyncIterable<MLflowRun> {
    return this.#rest.pages<MLflowRun>(
      "runs/search",
      {
        experiment_ids: [this.#experimentId],
        run_view_type: "ACTIVE_ONLY",
        max_results: PAGE_RUNS,
        order_by: ["attributes.start_time ASC"],
        ...(filter !== "" && { filter }),
      },
      "runs",
    );
  }

  /** Throws when several runs have the name. */
  async find(name: string): Promise<MLflowRun | undefined> {
    const waits = new Wait();
    for (;;) {
      const runs = await this.#named(name);
      const settled = runs.filter((run) => !isClaim(run));
      const [only] = settled;
      const smaller = runs.filter((run) => only === undefined || run.info.run_id < only.info.run_id);
      if (settled.length > 1) {
        const areOld = settled.every(
          (run) => (run.info.start_time ?? Infinity) < Date.now() - SETTLING_MS_MAX,
        );
        if (areOld || waits.isOver("two", GIVING_WAY_MS)) throw this.#duplicate(name, settled.length);
      } else if (smaller.length === 0 || waits.isOver("claim", PATIENCE_MS)) {
        // Nothing has been written to a claim yet.
        return only ?? runs[0];
      }
      await sleep(POLL_MS);
    }
  }

  #duplicate(name: string, count: number): Error {
    return new Error(
      `cannot use run "${name}": experiment "${this.#experimentName}" has ${count} runs of that name; delete or rename all but one`,
    );
  }

  /** Every caller gets the same one, however many ask at once. */
  async getOrCreate(name: string): Promise<MLflowRun> {
    const found = await this.find(name);
    if (found !== undefined) return this.#settle(found);
    const until = performance.now() + CLAIM_MS_MAX;
    let mine = await this.#claim(name, until);
    let isSettled = false;
    const waits = new Wait();
    while (performance.now() < until) {
      const others = (await this.#named(name)).filter((run) => run.info.run_id !== mine.info.run_id);
      const smaller = others.filter((run) => run.info.run_id < mine.info.run_id);
      const settled = (isSettled ? smaller : others).filter((run) => !isClaim(run));
      if (settled.length > 0 || (!isSettled && smaller.length > 0)) {
        await this.#rest.call("runs/delete", { run_id: mine.info.run_id });
        const winner = await this.find(name);
        return winner === undefined ? this.getOrCreate(name) : this.#settle(winner);
      }
      if (!isSettled) {
        mine = await this.#settle(mine);
        isSettled = true;
        continue;
      }
      if (smaller.length === 0 || waits.isOver("claim", PATIENCE_MS)) return mine;
      await sleep(POLL_MS);
    }
    throw new Error(`cannot create run "${name}": others have claimed the name for ${CLAIM_MS_MAX / 1000} s`);
  }

  async #named(name: string): Promise<MLflowRun[]> {
    const filter = UNQUOTABLE.test(name) ? "" : `tags.\`mlflow.runName\` = '${name}'`;
    const runs: MLflowRun[] = [];
    for await (const run of this.search(filter)) if (run.info.run_name === name) runs.push(run);
    return runs.sort((a, b) => (a.info.run_id < b.info.run_id ? -1 : 1));
  }

  /** Creating is not repeatable, so after a lost answer it looks for the run it may have created. */
  async #claim(name: string, until: number): Promise<MLflowRun> {
    const claim = randomBytes(16).toString("hex");
    const request = {
      experiment_id: this.#experimentId,
      user_id: this.#userName,
      run_name: name,
      start_time: Date.now(),
      tags: [
        { key: "mlflow.user", value: this.#userName },
        { key: CLAIM_TAG, value: claim },
      ],
    };
    for (;;) {
      try {
        return (await this.#rest.call<{ run: MLflowRun }>("runs/create", request, { repeatable: false })).run;
      } catch (thrown) {
        const isPassing = thrown instanceof MLflowError && isTransient(thrown);
        if (!isPassing || performance.now() > until) throw thrown;
      }
      await sleep(POLL_MS);
      const made = (await this.#named(name)).find((run) => tagsOf(run).get(CLAIM_TAG) === claim);
      if (made !== undefined) return made;
    }
  }

  async #settle(run: MLflowRun): Promise<MLflowRun> {
    if (!isClaim(run)) return run;
    try {
      await this.#rest.call("runs/delete-tag", { run_id: run.info.run_id, key: CLAIM_TAG });
    } catch (thrown) {
      // A process that waited for it has settled it, or an attempt whose answer did not come.
      if (!hasReason(thrown, "RESOURCE_DOES_NOT_EXIST")) throw thrown;
    }
    return run;
  }
}

function isClaim(run: MLflowRun): boolean {
  return tagsOf(run).has(CLAIM_TAG);
}

/** How long something was so without a break. */
class Wait {
  #what = "";
  #since = 0;

  isOver(what: "two" | "claim", ms: number): boolean {
    if (what !== this.#what) {
      this.#what = what;
      this.#since = performance.now();
    }
    return performance.now() - this.#since > ms;
  }
}
