import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import type { ArtifactRecord } from "./demo-run.ts";
import { encodePng } from "./png.ts";
import type { Random } from "./random.ts";

const TILE = 32;
const TILES_ACROSS = 4;
const TILES_DOWN = 2;

/** A grid of shapes that emerges from noise during training; `share` is the progress, 0 to 1. */
export function sampleGrid(name: string, step: number, share: number, random: Random): ArtifactRecord {
  const shapes = Array.from({ length: TILES_ACROSS * TILES_DOWN }, (_, i) => {
    const own = random.fork(`tile/${i}`);
    return { kind: own.whole(3), hue: own.next(), size: own.between(0.45, 0.8) };
  });
  const noise = random.fork(`noise/${step}`);
  const content = encodePng(TILE * TILES_ACROSS, TILE * TILES_DOWN, (x, y) => {
    const shape = shapes[Math.floor(y / TILE) * TILES_ACROSS + Math.floor(x / TILE)]!;
    const u = ((x % TILE) / TILE - 0.5) * 2;
    const v = ((y % TILE) / TILE - 0.5) * 2;
    const inside = distanceTo(shape.kind, u, v) < shape.size;
    const [r, g, b] = hueColour(shape.hue);
    const blur = (1 - share) * 170;
    const light = inside ? 1 : 0.18;
    return [r, g, b].map((part) => part * light * (0.35 + 0.65 * share) + blur * noise.next()) as [
      number,
      number,
      number,
    ];
  });
  return media(name, step, ArtifactKind.IMAGE, "image/png", content);
}

/** Circle, square or diamond. */
function distanceTo(kind: number, u: number, v: number): number {
  if (kind === 0) return Math.hypot(u, v);
  return kind === 1 ? Math.max(Math.abs(u), Math.abs(v)) : Math.abs(u) + Math.abs(v);
}

function hueColour(hue: number): [number, number, number] {
  const part = (offset: number) => 140 + 110 * Math.cos(2 * Math.PI * (hue + offset));
  return [part(0), part(1 / 3), part(2 / 3)];
}

/** Rows are what it was, columns what the model said. */
export function confusionMatrix(
  name: string,
  step: number,
  classes: readonly string[],
  accuracy: number,
  random: Random,
): ArtifactRecord {
  const counts = classes.map((_, truth) => {
    const total = 180 + random.whole(60);
    const wrong = Math.round(total * (1 - accuracy) * random.between(0.6, 1.4));
    const row = classes.map(() => 0);
    row[truth] = total - wrong;
    for (let i = 0; i < wrong; i++) {
      // Mistakes are mostly made with a neighbour.
      const near =
        (truth + (random.next() < 0.7 ? 1 : 2 + random.whole(classes.length - 2))) % classes.length;
      row[near === truth ? (truth + 1) % classes.length : near]!++;
    }
    return row;
  });
  return json(name, step, ArtifactKind.TABLE, { picture: "confusion_matrix", classes, counts });
}

/** A ROC curve: y over x, from (0, 0) to (1, 1), with the area below it near `area`. */
export function rocCurve(name: string, step: number, area: number): ArtifactRecord {
  const bend = (1 - area) / area;
  const x = Array.from({ length: 101 }, (_, i) => i / 100);
  const y = x.map((share) => round(share ** bend));
  return json(name, step, ArtifactKind.CURVE, {
    picture: "roc",
    xLabel: "false positive rate",
    yLabel: "true positive rate",
    x,
    y,
    area: round(area),
  });
}

/** Precision over recall. */
export function prCurve(name: string, step: number, quality: number): ArtifactRecord {
  const x = Array.from({ length: 101 }, (_, i) => i / 100);
  const y = x.map((recall) => round(Math.max(0.05, 1 - (1 - quality) * recall - 0.6 * recall ** 12)));
  return json(name, step, ArtifactKind.CURVE, { picture: "pr", xLabel: "recall", yLabel: "precision", x, y });
}

/** Counts between edges: one edge more than counts. */
export function histogram(name: string, step: number, spread: number, random: Random): ArtifactRecord {
  const bins = 40;
  const edges = Array.from({ length: bins + 1 }, (_, i) => round(-2 + (4 * i) / bins));
  const counts = edges.slice(1).map(() => 0);
  for (let i = 0; i < 4_000; i++) {
    const bin = Math.floor(((random.normal() * spread + 2) / 4) * bins);
    if (bin >= 0 && bin < bins) counts[bin]!++;
  }
  return json(name, step, ArtifactKind.HISTOGRAM, { picture: "histogram", edges, counts });
}

const SAMPLE_RATE = 8_000;

/** Half a second of a voice-like sound as a WAV file; cleaner the further training is. */
export function utterance(name: string, step: number, share: number, random: Random): ArtifactRecord {
  const samples = SAMPLE_RATE / 2;
  const file = Buffer.alloc(44 + samples * 2);
  file.write("RIFF", 0, "ascii");
  file.writeUInt32LE(36 + samples * 2, 4);
  file.write("WAVEfmt ", 8, "ascii");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(SAMPLE_RATE, 24);
  file.writeUInt32LE(SAMPLE_RATE * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write("data", 36, "ascii");
  file.writeUInt32LE(samples * 2, 40);
  for (let i = 0; i < samples; i++) {
    const t = i / SAMPLE_RATE;
    const voice =
      Math.sin(2 * Math.PI * 160 * t) + 0.5 * Math.sin(2 * Math.PI * 640 * t) * Math.sin(2 * Math.PI * 4 * t);
    const value = 0.35 * voice * Math.sin((Math.PI * i) / samples) + 0.3 * (1 - share) * random.normal();
    file.writeInt16LE(Math.round(Math.min(1, Math.max(-1, value)) * 32_767), 44 + i * 2);
  }
  return media(name, step, ArtifactKind.AUDIO, "audio/wav", file);
}

/** A table with a head, as text. */
export function csvTable(
  name: string,
  step: number,
  rows: readonly (readonly (string | number)[])[],
): ArtifactRecord {
  const content = rows.map((row) => row.join(",")).join("\n") + "\n";
  return media(name, step, ArtifactKind.TABLE, "text/csv", Buffer.from(content));
}

function json(name: string, step: number, kind: ArtifactKind, content: unknown): ArtifactRecord {
  return media(name, step, kind, "application/json", Buffer.from(JSON.stringify(content)));
}

function media(
  name: string,
  step: number,
  kind: ArtifactKind,
  mediaType: string,
  content: Uint8Array,
): ArtifactRecord {
  return { name, step: BigInt(step), kind, mediaType, content: Uint8Array.from(content) };
}

function round(value: number): number {
  return Number(value.toFixed(5));
}
