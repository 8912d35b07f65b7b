import type { Envelope } from "../types/envelope.ts";
import type { SeriesPoints } from "../types/series.ts";
import { sizeOf } from "../types/size.ts";

/** What a series, a label and an envelope take beside their content. */
const SERIES_BYTES = 128;
const LABEL_BYTES = 128;
const ENVELOPE_BYTES = 512;

/** About how much memory an envelope takes while it waits. Reads texts, but no points. */
export function envelopeBytes({
  series,
  change,
  log,
  artifacts,
}: Pick<Envelope, "series" | "change" | "log" | "artifacts">): number {
  let bytes = ENVELOPE_BYTES;
  for (const one of series) bytes += seriesBytes(one);
  for (const { text, lengths } of log ?? []) bytes += SERIES_BYTES + text.byteLength + 12 * lengths.length;
  for (const { content, metadata } of artifacts ?? []) {
    bytes += ENVELOPE_BYTES + (content?.byteLength ?? 0) + mapBytes(metadata);
  }
  if (change === undefined) return bytes;
  for (const part of [change.captured, change.addProvenance]) bytes += part === undefined ? 0 : sizeOf(part);
  return bytes + (change.notes?.length ?? 0) + mapBytes(change.params) + mapBytes(change.tags);
}

function mapBytes(map: ReadonlyMap<string, string> | undefined): number {
  let bytes = 0;
  for (const [key, value] of map ?? []) bytes += key.length + value.length;
  return bytes;
}

function seriesBytes({ key, labels, points }: SeriesPoints): number {
  const { steps, times, nanos, values } = points;
  let bytes = SERIES_BYTES + key.length;
  for (const [name, value] of labels) bytes += LABEL_BYTES + name.length + value.length;
  bytes += (steps?.byteLength ?? 0) + (times?.byteLength ?? 0) + (nanos?.byteLength ?? 0);
  if (values.kind !== "text") return bytes + values.data.byteLength;
  for (const text of values.data) bytes += text.length;
  return bytes;
}
