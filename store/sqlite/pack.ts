import { crc32 } from "node:zlib";
import { ByteWriter } from "#base/codec/byte-writer.ts";
import { writeBlock } from "#base/codec/block.ts";
import type { RunChange } from "#core/model/run.ts";
import type { AppendEnvelope } from "#core/ports/run-store.ts";
import type { PackedEnvelope } from "./append.ts";
import { seriesName } from "./catalog.ts";
import { labelsToText } from "./labels.ts";

const scratch = new ByteWriter(1 << 16);
const LENGTH_MODULUS = 2 ** 20;

/** Writes the points as log blocks, so that one buffer goes to the storage thread instead of many. */
export function packEnvelope(envelope: AppendEnvelope): PackedEnvelope & { body: Uint8Array<ArrayBuffer> } {
  const { runId, writer, seq, lost, change, series } = envelope;
  let points = 0;
  const names: string[] = [];
  for (const one of series) {
    names.push(seriesName(one.key, labelsToText(one.labels)));
    points += one.points.count;
    writeBlock(scratch, one.points);
  }
  const body = scratch.finish();
  const crc = crc32(body);
  const said = names.join("\n") + (change === undefined ? "" : changeText(change)) + JSON.stringify(lost);
  // 32 bits of checksum and 20 of length: a number that SQLite and a double both hold exactly.
  const digest = crc32(said, crc) * LENGTH_MODULUS + ((body.length + said.length) % LENGTH_MODULUS);
  return {
    runId,
    writer,
    seq,
    lost,
    change,
    names,
    kinds: series.map((one) => one.points.values.kind),
    body,
    points,
    digest,
    crc,
  };
}

/** The same for every order in which a client may have listed its keys. */
function changeText(change: RunChange): string {
  return JSON.stringify(change, (_, value: unknown) => {
    if (value instanceof Map) return [...value].sort(([a], [b]) => (a < b ? -1 : 1));
    return value;
  });
}
