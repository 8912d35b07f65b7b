import type { Clock } from "#base/clock.ts";
import { authorize, type Caller } from "../access/caller.ts";
import { CairnError } from "../errors.ts";
import type { Envelope, EnvelopeAck } from "../model/envelope.ts";
import type { Run, RunRef } from "../model/run.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { Runs } from "../runs/runs.ts";
import { checkEnvelope } from "./check-envelope.ts";

const KNOWN_RUNS_MAX = 100_000;

/** The one way in for everything a writer says about a run. */
export class Ingest {
  readonly #store: RunStore;
  readonly #runs: Runs;
  readonly #clock: Clock;
  readonly #accepted = { envelopes: 0, points: 0 };
  /** Where runs live, by id: a run never moves, so this needs no care beyond its size. */
  readonly #namespaces = new Map<string, string>();
  readonly #finding = new Map<string, Promise<Run>>();

  constructor(parts: { store: RunStore; runs: Runs; clock: Clock }) {
    this.#store = parts.store;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
  }

  /** Resolves when the envelope is durable. Rejects with nothing of it stored. */
  async write(caller: Caller, envelope: Envelope): Promise<EnvelopeAck> {
    const checked = checkEnvelope(envelope);
    const runId = await this.#resolve(caller, checked);
    const [outcome] = await this.#store.append([{ ...checked, runId }], this.#clock.nowUs());
    if (outcome === undefined) throw new CairnError("internal", "the store gave no answer");
    if (!outcome.ok) throw outcome.error;
    if (!outcome.ack.duplicate) {
      this.#accepted.envelopes++;
      this.#accepted.points += outcome.ack.points;
    }
    return outcome.ack;
  }

  /** Since the start of the server. */
  get accepted(): { readonly envelopes: number; readonly points: number } {
    return this.#accepted;
  }

  async #resolve(caller: Caller, { run: ref }: Envelope): Promise<string> {
    const known = ref.by === "id" ? this.#namespaces.get(ref.id) : undefined;
    if (known !== undefined && ref.by === "id") {
      authorize(caller, known);
      return ref.id;
    }
    const run = await this.#find(caller, ref);
    if (this.#namespaces.size >= KNOWN_RUNS_MAX) this.#namespaces.clear();
    this.#namespaces.set(run.id, run.namespace);
    return run.id;
  }

  /** Callers that ask for the same run at once share one look-up, so that none overtakes another. */
  #find(caller: Caller, ref: RunRef): Promise<Run> {
    const key = JSON.stringify([caller.principal.kind, caller.principal.name, ref]);
    let finding = this.#finding.get(key);
    if (finding === undefined) {
      finding = this.#runs.get(caller, ref).finally(() => this.#finding.delete(key));
      this.#finding.set(key, finding);
    }
    return finding;
  }
}
