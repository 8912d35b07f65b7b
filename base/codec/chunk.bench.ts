/**
 * Sizes and speeds of the codec on the realistic mix: `node base/codec/chunk.bench.ts`. Each speed is
 * the best of several rounds, because the machine is rarely ours alone.
 */
import { readBlock, writeBlock } from "./block.ts";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { decodeChunk, encodeChunk } from "./chunk.ts";
import { mixKindOf, mixKinds, mixSeries } from "./testing/data-mix.ts";
import type { Points } from "./points.ts";

const SEED = 1;
const SERIES = 20;
const ROUNDS = 15;

/** Million points per second. */
function speed(points: number, work: () => void): number {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return points / best / 1000;
}

function print(name: string, ...figures: (number | undefined)[]): void {
  const cells = figures.map((figure) =>
    (figure === undefined ? "" : figure.toFixed(figure < 10 ? 2 : 0)).padStart(10),
  );
  console.log(name.padEnd(22) + cells.join(""));
}

function cut(points: Points, size: number): Points[] {
  const pieces: Points[] = [];
  const { data } = points.values as { data: Float64Array };
  for (let from = 0; from < points.count; from += size) {
    const to = Math.min(points.count, from + size);
    pieces.push({
      count: to - from,
      steps: points.steps?.slice(from, to),
      times: points.times?.slice(from, to),
      nanos: undefined,
      values: { kind: "number", data: data.slice(from, to) },
    });
  }
  return pieces;
}

function benchChunks(name: string, pieces: readonly Points[]): void {
  const count = pieces.reduce((sum, piece) => sum + piece.count, 0);
  const chunks = pieces.map((piece) => encodeChunk(piece));
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  print(
    name,
    bytes / count,
    speed(count, () => {
      for (const piece of pieces) encodeChunk(piece);
    }),
    speed(count, () => {
      for (const chunk of chunks) decodeChunk(chunk);
    }),
    speed(count, () => {
      for (const chunk of chunks) decodeChunk(chunk, { values: true });
    }),
  );
}

function benchBlocks(name: string, pieces: readonly Points[]): void {
  const count = pieces.reduce((sum, piece) => sum + piece.count, 0);
  const writer = new ByteWriter();
  const write = (): void => {
    writer.reset();
    for (const piece of pieces) writeBlock(writer, piece);
  };
  write();
  const bytes = writer.finish();
  print(
    name,
    bytes.length / count,
    speed(count, write),
    speed(count, () => {
      const reader = new ByteReader(bytes);
      for (let i = 0; i < pieces.length; i++) readBlock(reader);
    }),
  );
}

const series = Array.from({ length: SERIES }, (_, index) => mixSeries(index, 32_768, SEED));

console.log("chunks of the mix          B/pt    encode    decode    values   (million points/s)");
for (const size of [256, 1024, 4096, 32_768]) {
  benchChunks(
    `${size} points`,
    series.flatMap((points) => cut(points, size)),
  );
}

console.log("\nchunks of 4096 by kind     B/pt    encode    decode    values");
for (const kind of mixKinds) {
  const index = Array.from({ length: 10 }, (_, place) => place).findIndex(
    (place) => mixKindOf(place) === kind,
  );
  benchChunks(kind, cut(series[index]!, 4096));
}

console.log("\nblocks of the mix          B/pt     write      read");
for (const size of [1, 10, 100, 1000, 10_000]) {
  benchBlocks(
    `${size} points`,
    series.flatMap((points) => cut(points, size).slice(0, 20_000 / size + 50)),
  );
}

const million = cut(mixSeries(0, 1_000_000, SEED), 4096).map((piece) => encodeChunk(piece));
const millionSpeed = speed(1_000_000, () => {
  for (const chunk of million) decodeChunk(chunk, { values: true });
});
console.log(`\nvalues of 1,000,000 float32 points in chunks of 4096: ${(1000 / millionSpeed).toFixed(1)} ms`);
