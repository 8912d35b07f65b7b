import type { Clock } from "#base/clock.ts";
import type { Caller } from "../access/caller.ts";
import { CairnError } from "../errors.ts";
import type { Envelope, EnvelopeAck } from "../model/envelope.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { Runs } from "../runs/runs.ts";
import { checkEnvelope } from "./check-envelope.ts";

/** The one way in for everything a writer says about a run. */
export class Ingest {
  readonly #store: RunStore;
  readonly #runs: Runs;
  readonly #clock: Clock;
  readonly #accepted = { envelopes: 0, points: 0 };

  constructor(parts: { store: RunStore; runs: Runs; clock: Clock }) {
    this.#store = parts.store;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
  }

  /** Resolves when the envelope is durable. Rejects with nothing of it stored. */
  async write(caller: Caller, envelope: Envelope): Promise<EnvelopeAck> {
    const checked = checkEnvelope(envelope);
    const runId = await this.#runs.locate(caller, checked.run);
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
}
