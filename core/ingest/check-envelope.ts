import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { checkArtifactRecord, type ArtifactRecord } from "../types/artifact.ts";
import { requireAtMost, requireKey, requireText } from "../types/check.ts";
import type { Envelope, HostEnvelope, SeqRange } from "../types/envelope.ts";
import { requireHost } from "../types/host.ts";
import { checkLog } from "../types/log.ts";
import type { SeriesPoints } from "../types/series.ts";
import { checkedChange } from "../runs/runs.ts";

/** Everything about an envelope that can be checked without the store. Returns it in canonical form. */
export function checkEnvelope(envelope: Envelope): Envelope {
  const { writer, seq, series, lost, change, log, artifacts } = envelope;
  requireText(writer, limits.writerBytesMax, "writer");
  if (!Number.isSafeInteger(seq) || seq < 0) {
    throw new CairnError("invalid", `cannot append envelope "${seq}": a number is 1 to 2^53`);
  }
  if ((writer === "") !== (seq === 0)) {
    throw new CairnError(
      "invalid",
      `cannot append envelope ${seq} of writer ${quote(writer)}: give both or neither`,
      {
        hint: "a numbered envelope has a writer and a seq from 1; leave both out for one without a number",
      },
    );
  }
  if (envelope.dropRepeated === true && seq !== 0) {
    throw new CairnError(
      "invalid",
      `cannot drop envelope ${seq} of writer ${quote(writer)} as a repeated one: it has a number`,
      { hint: "a numbered envelope is stored once anyway" },
    );
  }
  requireAtMost(series.length, limits.envelopeSeriesMax, "series in one envelope");
  for (const one of series) checkSeries(one);
  requireAtMost(pointsOf(envelope), limits.envelopePointsMax, "points in one envelope");
  checkLost(lost, seq);
  if (log !== undefined) checkLog(log);
  if (envelope.host !== undefined) return checkedForHost(envelope);
  // Most envelopes carry points only and stay unchanged.
  if (change === undefined && artifacts === undefined) return envelope;
  return {
    ...envelope,
    change: change && checkedChange(change),
    artifacts: artifacts && checkedArtifacts(artifacts),
  };
}

/** Of all its series. */
export function pointsOf({ series }: Pick<Envelope, "series">): number {
  let points = 0;
  for (const one of series) points += one.points.count;
  return points;
}

/** A host has only points. */
function checkedForHost(envelope: HostEnvelope): HostEnvelope {
  const { seq, series, change, lost, log, artifacts, dropRepeated } = envelope;
  const host = requireHost(envelope.host);
  const others = {
    "a number": seq !== 0,
    "lost ranges": lost.length > 0,
    "params, tags, a status or a heartbeat": change !== undefined,
    "log lines": log !== undefined,
    artifacts: artifacts !== undefined,
    "the option to drop it when it is repeated": dropRepeated === true,
    "no series": series.length === 0,
  };
  for (const [what, isThere] of Object.entries(others)) {
    if (!isThere) continue;
    throw new CairnError("invalid", `cannot write to host ${quote(host.name)}: the envelope has ${what}`, {
      reason: "HOST_ENVELOPE",
      hint: "an envelope of a host has series and nothing else; what concerns a job belongs to its run",
    });
  }
  return envelope;
}

function checkedArtifacts(artifacts: readonly ArtifactRecord[]): ArtifactRecord[] {
  requireAtMost(artifacts.length, limits.envelopeArtifactsMax, "artifacts in one envelope");
  let contentBytes = 0;
  for (const { content } of artifacts) contentBytes += content?.byteLength ?? 0;
  requireAtMost(contentBytes, limits.envelopeContentBytesMax, "bytes of artifacts in one envelope");
  return artifacts.map(checkArtifactRecord);
}

function checkSeries({ key, points }: SeriesPoints): void {
  requireKey(key, "metric key");
  const { count, steps, times, nanos, values } = points;
  if (values.data.length !== count) throw uneven(key, "values", values.data.length, count);
  if (steps !== undefined) {
    if (steps.length !== count) throw uneven(key, "steps", steps.length, count);
    requireIntegers(steps, "step", key);
  }
  if (times !== undefined) {
    if (times.length !== count) throw uneven(key, "times", times.length, count);
    requireIntegers(times, "time", key);
  }
  if (nanos !== undefined) {
    if (times === undefined || nanos.length !== count) throw uneven(key, "nanos", nanos.length, count);
    for (const nano of nanos) {
      if (nano > 999) {
        throw new CairnError(
          "invalid",
          `cannot append series ${quote(key)}: nanos "${nano}" is not 0 to 999`,
        );
      }
    }
  }
  if (values.kind === "text") {
    for (const text of values.data)
      requireText(text, limits.textValueBytesMax, `a value of series ${quote(key)}`);
  }
}

const INTEGER_MAX = 2 ** 53;

function requireIntegers(column: Float64Array, what: string, key: string): void {
  for (let i = 0; i < column.length; i++) {
    const value = column[i]!;
    if (value === Math.floor(value) && value <= INTEGER_MAX && value >= -INTEGER_MAX) continue;
    const cause = `${what} "${value}" is not an integer within 2^53`;
    throw new CairnError("invalid", `cannot append series ${quote(key)}: ${cause}`, {
      reason: "UNSAFE_INTEGER",
      hint: "steps are whole numbers, times are microseconds since 1970",
    });
  }
}

/** `what` has `found` entries where the values have `count`. */
export function uneven(key: string, what: string, found: number, count: number): CairnError {
  return new CairnError(
    "invalid",
    `cannot append series ${quote(key)}: ${found} ${what} for ${count} values`,
    {
      reason: "COLUMNS_UNEVEN",
      hint: "columns are of equal length; steps and times may each be left out as a whole",
    },
  );
}

function checkLost(lost: readonly SeqRange[], seq: number): void {
  requireAtMost(lost.length, limits.envelopeLostRangesMax, "lost ranges in one envelope");
  for (const { first, last } of lost) {
    const whole = Number.isSafeInteger(first) && Number.isSafeInteger(last);
    if (whole && first >= 1 && first <= last && last < seq) continue;
    throw new CairnError(
      "invalid",
      `cannot declare ${first} to ${last} lost: not a range below envelope ${seq}`,
    );
  }
}
