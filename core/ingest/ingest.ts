import type { Clock } from "#base/clock.ts";
import { authorize, maySee, type Caller } from "../access/caller.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { missingArtifact, type ArtifactScope } from "../artifacts/locate.ts";
import { replaceRecord } from "../artifacts/artifact-record.ts";
import { CairnError } from "#lang/errors.ts";
import type { Envelope, EnvelopeAck } from "../types/envelope.ts";
import { RUN_MOVED, type EnvelopeAudit, type Journal } from "../ports/journal.ts";
import { Backlog } from "../quota/backlog.ts";
import { envelopeBytes } from "../quota/envelope-bytes.ts";
import type { CapturePolicies } from "../runs/capture-policies.ts";
import type { Runs } from "../runs/runs.ts";
import type { Changes } from "../watch/changes.ts";
import { checkEnvelope } from "./check-envelope.ts";
import { withhold } from "./withhold.ts";

/** How often an envelope is judged again because its run was moved. */
const TRIES_MAX = 5;

/** The one way in for everything a writer says about a run. */
export class Ingest {
  readonly #journal: Journal;
  readonly #runs: Runs;
  readonly #clock: Clock;
  readonly #changes: Changes;
  readonly #captures: CapturePolicies;
  /** What waits for the store. Wires ask it for room before they read an envelope. */
  readonly backlog: Backlog;
  readonly #accepted = { envelopes: 0, points: 0, lines: 0 };

  constructor(parts: {
    journal: Journal;
    runs: Runs;
    clock: Clock;
    changes: Changes;
    captures: CapturePolicies;
    backlog?: Backlog;
  }) {
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
    const leave = this.backlog.enter(envelopeBytes(checked));
    try {
      return await this.#apply(caller, checked);
    } finally {
      leave();
    }
  }

  /** The store refuses what was judged where the run is not any more: then it is judged again. */
  async #apply(caller: Caller, checked: Envelope): Promise<EnvelopeAck> {
    for (let tries = 1; ; tries++) {
      const { id: runId, namespace } = await this.#runs.whereIs(caller, checked.run);
      const { series, change } = checked;
      for (const { name } of checked.artifacts ?? [])
        requireArtifact(caller, { namespace, runId, artifact: name });
      const mayCapture = checked.log !== undefined || checked.artifacts !== undefined;
      const left = mayCapture ? withhold(checked, this.#captures.forbiddenIn(namespace)) : undefined;
      const nowUs = this.#clock.nowUs();
      const { artifacts: stored } = left?.kept ?? checked;
      const audit = auditOf(caller, { change, artifacts: stored }, { namespace, runId }, nowUs);
      const one = { ...checked, runId, namespace, kept: left?.kept, audit };
      const [outcome] = await this.#journal.append([one], nowUs);
      if (outcome === undefined) throw new CairnError("internal", "the store gave no answer");
      if (!outcome.ok) {
        if (tries === TRIES_MAX || !isMoved(outcome.error)) throw outcome.error;
        this.#runs.forgetPlace(runId);
        continue;
      }
      if (!outcome.ack.duplicate) {
        const { log } = left?.kept ?? checked;
        this.#accepted.envelopes++;
        this.#accepted.points += outcome.ack.points;
        for (const { lengths } of log ?? []) this.#accepted.lines += lengths.length;
        const { position } = outcome;
        if (series.length > 0 && position !== undefined) this.#changes.points.offer(runId, position, series);
        if (left !== undefined) return { ...outcome.ack, withheld: left.withheld };
      }
      return outcome.ack;
    }
  }

  /** Since the start of the server. */
  get accepted(): { readonly envelopes: number; readonly points: number; readonly lines: number } {
    return this.#accepted;
  }
}

function isMoved(error: Error): boolean {
  return error instanceof CairnError && error.reason === RUN_MOVED;
}

/** undefined for what needs none: points and lines alone. */
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

/** An artifact may be closed to somebody who may write to its run. */
function requireArtifact(caller: Caller, scope: ArtifactScope): void {
  if (!maySee(caller, scope)) throw missingArtifact(scope.runId, scope.artifact, undefined);
  authorize(caller, scope);
}
