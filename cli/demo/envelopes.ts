import { create } from "@bufbuild/protobuf";
import { LogLinesSchema, LogOrigin, type LogLines } from "#proto/cairn/v1/log_pb.ts";
import { EnvelopeSchema, type Envelope } from "#proto/cairn/v1/metric_pb.ts";
import type { DemoLog, DemoPart, DemoRun } from "./demo-run.ts";

const SLICES_OF_PARALLEL = 10;
const POINTS_MAX = 50_000;
const LINES_MAX = 1_000;
const ARTIFACTS_MAX = 16;

/**
 * The numbered envelopes of a run, in the order in which they came. The same run and beginning give the same
 * bytes, so that a demo that was interrupted can send them all again.
 */
export function envelopesOf(run: DemoRun, runId: string, beginUs: number): Envelope[] {
  const parts = run.parts?.() ?? [];
  const slices = run.parallel === true ? SLICES_OF_PARALLEL : 1;
  const queues = parts.map((part) => partEnvelopes(part, runId, beginUs, slices));
  const envelopes = run.parallel === true ? interleaved(queues) : queues.flat();
  const last = envelopes.at(-1);
  if (last !== undefined) {
    last.status = run.status;
    last.endedUs = BigInt(toUs(run.endS ?? run.startS, beginUs));
  }
  return envelopes;
}

function interleaved(queues: readonly Envelope[][]): Envelope[] {
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => queues.flatMap((queue) => queue[i] ?? [])).flat();
}

function partEnvelopes(part: DemoPart, runId: string, beginUs: number, slices: number): Envelope[] {
  const points =
    part.series.reduce((most, { steps }) => Math.max(most, steps.length), 0) * part.series.length;
  const lines = part.log ?? [];
  const artifacts = part.artifacts ?? [];
  const count = Math.max(
    slices,
    Math.ceil(points / POINTS_MAX),
    Math.ceil(lines.length / LINES_MAX),
    Math.ceil(artifacts.length / ARTIFACTS_MAX),
  );
  return Array.from({ length: count }, (_, i) => {
    const share = <T>(all: readonly T[]) =>
      all.slice(Math.floor((i * all.length) / count), Math.floor(((i + 1) * all.length) / count));
    return create(EnvelopeSchema, {
      run: { id: runId },
      writer: part.writer,
      seq: BigInt(i + 1),
      series: part.series
        .map(({ key, labels = {}, steps, values, timesS }) => ({
          key,
          labels,
          steps: share(steps).map(BigInt),
          values: share(values),
          timesUs: share(timesS).map((seconds) => BigInt(toUs(seconds, beginUs))),
        }))
        .filter(({ values }) => values.length > 0),
      log: logGroups(share(lines), beginUs),
      artifacts: share(artifacts),
    });
  });
}

/** Adjacent lines of one origin, stream and rank are sent together. */
function logGroups(lines: readonly DemoLog[], beginUs: number): LogLines[] {
  const groups: { about: DemoLog; lines: DemoLog[] }[] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    const same =
      group !== undefined &&
      group.about.stream === line.stream &&
      group.about.rank === line.rank &&
      group.about.origin === line.origin;
    if (same) group.lines.push(line);
    else groups.push({ about: line, lines: [line] });
  }
  return groups.map(({ about, lines: members }) => {
    const log = create(LogLinesSchema, {
      stream: about.stream ?? "",
      origin: about.origin ?? LogOrigin.UNSPECIFIED,
      timesUs: members.map(({ timeS }) => BigInt(toUs(timeS, beginUs))),
      lines: members.map(({ text }) => text),
    });
    if (about.rank !== undefined) log.rank = about.rank;
    return log;
  });
}

export function toUs(seconds: number, beginUs: number): number {
  return beginUs + Math.round(seconds * 1e6);
}
