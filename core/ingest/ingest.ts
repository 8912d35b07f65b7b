import type { Clock } from "#base/clock.ts";
import { authorize, maySee, type Caller } from "../access/caller.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { missingArtifact, type ArtifactScope } from "../artifacts/locate.ts";
import { replaceRecord } from "../artifacts/artifact-record.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost } from "../types/check.ts";
import type { Envelope, EnvelopeAck, Withheld } from "../types/envelope.ts";
import type { AppendEnvelope, AppendOutcome, EnvelopeAudit, Journal } from "../ports/journal.ts";
import { Backlog } from "../quota/backlog.ts";
import { envelopeBytes } from "../quota/envelope-bytes.ts";
import type { Follower } from "../journal/follower.ts";
import type { CapturePolicies } from "../runs/capture-policies.ts";
import { isMoved, movedAgain } from "../runs/moved-again.ts";
import type { Runs } from "../runs/runs.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { Changes } from "../watch/changes.ts";
import { checkEnvelope, pointsOf } from "./check-envelope.ts";
import { withhold } from "./withhold.ts";
import { refusalOf, type WriteOutcome } from "./write-outcome.ts";

/** How often an envelope is checked again because its run was moved. */
const TRIES_MAX = 5;

/** Where the run of an envelope is. */
interface Place {
  id: string;
  namespace: string;
}

/** An envelope to be appended to the journal. */
type Prepared = AppendEnvelope & {
  /** What is left out of it; undefined for nothing. */
  withheld: Withheld | undefined;
};

/** The one entry point for all writes to runs, and for the points of hosts. */
export class Ingest {
  readonly #journal: Journal;
  readonly #runs: Runs;
  readonly #clock: Clock;
  readonly #changes: Changes;
  readonly #captures: CapturePolicies;
  readonly #follower: Follower;
  /** The queue for the store. Wires reserve room in it before they read an envelope. */
  readonly backlog: Backlog;
  readonly #accepted = { envelopes: 0, points: 0, lines: 0 };

  constructor(parts: {
    journal: Journal;
    runs: Runs;
    clock: Clock;
    changes: Changes;
    captures: CapturePolicies;
    follower: Follower;
    backlog?: Backlog;
  }) {
    this.#follower = parts.follower;
    this.backlog = parts.backlog ?? new Backlog();
    this.#journal = parts.journal;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
    this.#changes = parts.changes;
    this.#captures = parts.captures;
  }

  /** Resolves when the envelope is durable. Rejects with nothing of it stored. */
  async write(caller: Caller, envelope: Envelope): Promise<EnvelopeAck> {
    const checked = checkEnvelope(envelope);
    const outcomes = new Map<number, WriteOutcome>();
    const leave = this.backlog.enter(envelopeBytes(checked));
    try {
      await this.#applyAll(caller, new Map([[0, checked]]), outcomes);
    } finally {
      leave();
    }
    const outcome = outcomes.get(0)!;
    if (!outcome.ok) throw outcome.error;
    return outcome.ack;
  }

  /**
   * Writes many: for each an acknowledgement once it is durable, or why nothing of it is stored, in the order given. Of one
   * run and writer they are applied in that order, so that numbers which follow a refused one are refused as a gap. An envelope
   * that a wire could not read is passed as its error, and answered with that.
   *
   * Throws `exhausted` for more than one call may hold, and `unavailable` when no more is accepted at this moment; nothing
   * is stored then. Of calls that do not wait for each other a later one may be applied first while a run is unknown.
   */
  async writeAll(caller: Caller, envelopes: readonly (Envelope | CairnError)[]): Promise<WriteOutcome[]> {
    requireCallFits(envelopes);
    const outcomes = new Map<number, WriteOutcome>();
    const checked = new Map<number, Envelope>();
    let bytes = 0;
    for (const [i, given] of envelopes.entries()) {
      attempt(outcomes, i, () => {
        if (given instanceof CairnError) throw given;
        const envelope = checkEnvelope(given);
        bytes += envelopeBytes(envelope);
        checked.set(i, envelope);
      });
    }
    const leave = this.backlog.enter(bytes, checked.size);
    try {
      await this.#applyAll(caller, checked, outcomes);
    } finally {
      leave();
    }
    return envelopes.map((_, i) => outcomes.get(i)!);
  }

  /** Adds an outcome for each of `checked`. */
  async #applyAll(
    caller: Caller,
    checked: ReadonlyMap<number, Envelope>,
    outcomes: Map<number, WriteOutcome>,
  ): Promise<void> {
    let left = checked;
    for (let tries = 1; left.size > 0; tries++) {
      try {
        left = await this.#applyOnce(caller, left, outcomes, tries < TRIES_MAX);
      } catch (thrown) {
        if (tries === 1) throw thrown;
        // Others are stored already.
        for (const i of left.keys()) outcomes.set(i, refusalOf(thrown));
        return;
      }
    }
  }

  /** Returns those without an outcome: they must be checked again, because their run was moved. */
  async #applyOnce(
    caller: Caller,
    checked: ReadonlyMap<number, Envelope>,
    outcomes: Map<number, WriteOutcome>,
    mayTryAgain: boolean,
  ): Promise<ReadonlyMap<number, Envelope>> {
    const places = await this.#findPlaces(caller, checked.values());
    const nowUs = this.#clock.nowUs();
    const prepared = new Map<number, Prepared>();
    for (const [i, envelope] of checked) {
      attempt(outcomes, i, () => {
        const place = envelope.run && places.get(keyOf(envelope.run));
        if (place instanceof CairnError) throw place;
        prepared.set(i, this.#prepare(caller, envelope, place, nowUs));
      });
    }
    const again = new Map<number, Envelope>();
    if (prepared.size === 0) return again;
    const appended = await this.#journal.append([...prepared.values()], nowUs);
    let at = 0;
    for (const [i, one] of prepared) {
      const outcome = appended[at++];
      if (this.#wasMoved(one, outcome) && mayTryAgain) again.set(i, checked.get(i)!);
      else attempt(outcomes, i, () => outcomes.set(i, { ok: true, ack: this.#settle(one, outcome) }));
    }
    if (again.size > 0) await this.#follower.catchUp();
    return again;
  }

  /** Of every run that they name, by `keyOf`; asks for each once. */
  async #findPlaces(
    caller: Caller,
    envelopes: Iterable<Envelope>,
  ): Promise<ReadonlyMap<string, Place | CairnError>> {
    const places = new Map<string, Place | CairnError>();
    const finding = new Map<string, Promise<void>>();
    for (const { run } of envelopes) {
      if (run === undefined) continue;
      const key = keyOf(run);
      if (finding.has(key)) continue;
      const found = this.#runs.whereIs(caller, run).then(
        (place) => void places.set(key, place),
        (thrown: unknown) => void places.set(key, CairnError.from(thrown)),
      );
      finding.set(key, found);
    }
    await Promise.all(finding.values());
    return places;
  }

  /**
   * Whether the store refused it because its run is not where the envelope was checked: then it must be checked again, by what
   * is known of the new place. What is bound there may have been moved with it.
   */
  #wasMoved({ runId }: Prepared, outcome: AppendOutcome | undefined): boolean {
    if (outcome === undefined || outcome.ok || runId === undefined || !isMoved(outcome.error)) return false;
    this.#runs.forgetPlace(runId);
    return true;
  }

  /** `place` is that of its run. Throws when the caller may not write what it holds. */
  #prepare(caller: Caller, checked: Envelope, place: Place | undefined, nowUs: number): Prepared {
    if (checked.host !== undefined) {
      authorize(caller, { namespace: checked.host.namespace });
      return { ...checked, withheld: undefined };
    }
    const { id: runId, namespace } = place!;
    const { log, artifacts, change } = checked;
    for (const { name } of artifacts ?? []) requireArtifact(caller, { namespace, runId, artifact: name });
    const mayCapture = log !== undefined || artifacts !== undefined || change !== undefined;
    const left = mayCapture ? withhold(checked, this.#captures.forbiddenIn(namespace)) : undefined;
    const audit = auditOf(caller, left?.kept ?? checked, { namespace, runId }, nowUs);
    return { ...checked, runId, namespace, kept: left?.kept, audit, withheld: left?.withheld };
  }

  /** Counts accepted data and shows it to watchers. Throws the refusal of the journal. */
  #settle(prepared: Prepared, outcome: AppendOutcome | undefined): EnvelopeAck {
    if (outcome === undefined) throw new CairnError("internal", "the store returned no outcome");
    if (!outcome.ok) {
      const { error } = outcome;
      throw isMoved(error) ? movedAgain("append to", prepared.runId!, error) : error;
    }
    if (outcome.ack.duplicate) return outcome.ack;
    const { runId, series, kept, withheld } = prepared;
    const { log } = kept ?? prepared;
    this.#accepted.envelopes++;
    this.#accepted.points += outcome.ack.points;
    for (const { lengths } of log ?? []) this.#accepted.lines += lengths.length;
    const { position } = outcome;
    if (runId !== undefined && series.length > 0 && position !== undefined) {
      this.#changes.points.offer(runId, position, series);
    }
    return withheld === undefined ? outcome.ack : { ...outcome.ack, withheld };
  }

  /** Since the start of the server. */
  get accepted(): { readonly envelopes: number; readonly points: number; readonly lines: number } {
    return this.#accepted;
  }
}

/** The same for envelopes that name a run in the same way. */
function keyOf(run: RunRef): string {
  return run.by === "id" ? `id ${run.id}` : JSON.stringify(run);
}

/** What it throws is the outcome of envelope `i`. */
function attempt(outcomes: Map<number, WriteOutcome>, i: number, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    outcomes.set(i, refusalOf(thrown));
  }
}

function requireCallFits(envelopes: readonly (Envelope | CairnError)[]): void {
  requireAtMost(envelopes.length, limits.callEnvelopesMax, "envelopes in one call");
  let points = 0;
  for (const one of envelopes) if (!(one instanceof CairnError)) points += pointsOf(one);
  requireAtMost(points, limits.callPointsMax, "points in one call");
}

/** undefined where none is needed: points and lines alone. */
function auditOf(
  caller: Caller,
  { change, artifacts }: Pick<Envelope, "change" | "artifacts">,
  { namespace, runId }: { namespace: string; runId: string },
  nowUs: number,
): EnvelopeAudit | undefined {
  if (change === undefined && artifacts === undefined) return undefined;
  return {
    change: change && auditRecord(caller, nowUs, "update-run", runId, { namespace }),
    artifacts: (artifacts ?? []).map((artifact) =>
      replaceRecord(caller, nowUs, { namespace, runId, artifact: artifact.name }, artifact.step),
    ),
  };
}

/** An artifact may be closed to a caller that may write to its run. */
function requireArtifact(caller: Caller, scope: ArtifactScope): void {
  if (!maySee(caller, scope)) throw missingArtifact(scope.runId, scope.artifact, undefined);
  authorize(caller, scope);
}
