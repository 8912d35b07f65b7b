/** The content of an envelope, generated from its writer and number. */
export interface Content {
  series: { key: string; steps: number[]; values: number[] }[];
  params: Record<string, string>;
  lines: string[];
  /** Of one artifact at a step of its own; undefined when there is none. */
  artifact: Buffer | undefined;
}

const ODD = [NaN, Infinity, -Infinity, -0, 5e-324, 1.7976931348623157e308];
const STEPS_PER_ENVELOPE = 32_768;
const FLOOD_POINTS = 20_000;
const WORDS = ["epoch", "loss", "läuft", "🚂", "0x00", "\t", "done", ""];

/** Writers of this name send nothing but big envelopes, so that the log is folded while they write. */
export const FLOOD = "flood";

/** Mixed sizes: mostly a handful of points, now and then thousands; one to three series; sometimes other things. */
export function contentOf(writer: string, seq: number): Content {
  const random = generator(hashOf(`${writer} ${seq}`));
  const flood = writer === FLOOD;
  const count = flood ? 1 : 1 + Math.floor(random() * 3);
  const big = random() < 0.05;
  const series = Array.from({ length: count }, (_, i) => {
    const size = flood ? FLOOD_POINTS : Math.floor(random() * (big ? 4_000 : 40));
    const steps = Array.from({ length: size }, (__, at) => seq * STEPS_PER_ENVELOPE + at);
    const values = steps.map(() =>
      random() < 0.02 ? ODD[Math.floor(random() * ODD.length)]! : random() - 0.5,
    );
    return { key: `${writer}/${i}`, steps, values };
  });
  const params: Record<string, string> = random() < 0.2 ? { [`last ${writer}`]: String(seq) } : {};
  const lineCount = random() < 0.3 ? Math.floor(random() * (big ? 200 : 8)) : 0;
  const lines = Array.from({ length: lineCount }, (_, i) => {
    const word = WORDS[Math.floor(random() * WORDS.length)]!;
    return `${writer} ${seq} ${i} ${word.repeat(1 + Math.floor(random() * 5))}`;
  });
  const artifact = random() < 0.05 ? bytesFrom(random, Math.floor(random() * 3_000)) : undefined;
  return { series, params, lines, artifact };
}

/** Of a file that is uploaded: mostly some kilobytes, now and then hundreds. */
export function fileOf(name: string): Buffer {
  const random = generator(hashOf(name));
  return bytesFrom(random, Math.floor(random() * (random() < 0.1 ? 500_000 : 20_000)));
}

function bytesFrom(random: () => number, sizeBytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: sizeBytes }, () => random() * 256));
}
/** 0 to 1, the same sequence for the same seed (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
