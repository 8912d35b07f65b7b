import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { learningRateAt, lossAt, stepsOf } from "../curves.ts";
import { daysAgo, type DemoPart, type DemoRun, type StoryOptions } from "../demo-run.ts";
import type { Random } from "../random.ts";
import { DIRTY_PATCH, commitOf, provenanceOf } from "../story-provenance.ts";
import { busyShare, DIVERGED, progressLines, seriesOf } from "../story-series.ts";

const RATES = [0.0001, 0.0003, 0.001, 0.003] as const;
const DEPTHS = [6, 12, 24] as const;
const STEP_SECONDS = 1.8;
const VALIDATE_EVERY = 20;

interface Setting {
  lr: number;
  depth: number;
  dropout: number;
  warmup: number;
  batch: number;
  seed: number;
}

/** Learning rate × depth × seed. Deep models want small rates, and the largest rate makes them diverge. */
export function sweepRuns({ random, scale }: StoryOptions): DemoRun[] {
  const runs: DemoRun[] = [];
  for (const lr of RATES) {
    for (const depth of DEPTHS) {
      for (let seed = 1; seed <= scale.sweepSeeds; seed++) {
        const number = runs.length + 1;
        const own = random.fork(`sweep/${number}`);
        const setting = {
          lr,
          depth,
          dropout: own.pick([0, 0.05, 0.1]),
          warmup: own.pick([20, 40]),
          batch: own.pick([32, 64]),
          seed,
        };
        runs.push(sweepRun(number, setting, own, random, scale.sweepSteps));
      }
    }
  }
  return runs;
}

function diverges({ lr, depth }: Setting): boolean {
  return lr >= 0.003 && depth >= 24;
}

/** The word error rate it ends with: the settings decide most of it, the seed the rest. */
function finalWer({ lr, depth, dropout, batch }: Setting, random: Random): number {
  const bestRate = depth === 6 ? 0.001 : depth === 12 ? 0.0006 : 0.0003;
  const off = Math.log10(lr / bestRate);
  const size = depth === 6 ? 0.045 : depth === 12 ? 0.018 : 0;
  const regular = dropout === 0 ? 0.006 * (depth / 12) : dropout === 0.1 ? 0.002 : 0;
  return 0.082 + size + 0.085 * off * off + regular + (batch === 32 ? 0.002 : 0) + 0.004 * random.normal();
}

function sweepRun(number: number, setting: Setting, random: Random, story: Random, steps: number): DemoRun {
  const startS = daysAgo(9) + number * 2_700 + random.whole(900);
  const stepSeconds = STEP_SECONDS * (0.6 + setting.depth / 24);
  const failed = diverges(setting);
  const ranSteps = failed ? Math.floor(steps * random.between(0.3, 0.6)) : steps;
  const { lr, depth, dropout, warmup, batch, seed } = setting;
  // Half way through, PyTorch was updated on one machine and the schedule was edited.
  const late = number > 36;
  return {
    key: `sweep-${number}`,
    namespace: "speech/sweep",
    name: `sweep-${String(number).padStart(3, "0")}`,
    params: {
      lr,
      depth,
      dropout,
      seed,
      optim: { name: "adamw", betas: [0.9, 0.98], weight_decay: 0.01, warmup },
      data: { batch, hours: 960, sample_rate: 16_000 },
    },
    tags: { team: "speech", stage: "sweep", owner: "ines" },
    status: failed ? RunStatus.FAILED : RunStatus.FINISHED,
    startS,
    endS: startS + ranSteps * stepSeconds + 40,
    provenance: provenanceOf({
      user: "ines",
      repository: "https://git.example.org/speech/asr.git",
      commit: commitOf(story, late ? "asr/2" : "asr/1"),
      branch: late ? "longer-warmup" : "main",
      command: ["python", "-m", "asr.train", `--lr=${lr}`, `--depth=${depth}`, `--seed=${seed}`],
      machine: number % 3,
      torch: late && number % 3 === 0 ? "2.7.1" : "2.6.0",
      dirtyPatch: late ? DIRTY_PATCH : "",
      trainingData: ["s3://corpora/librispeech/train-960"],
      testData: ["s3://corpora/librispeech/dev-other"],
      study: "wav2vec-lr-depth",
    }),
    parts: () => sweepParts(setting, random.fork("curves"), { startS, stepSeconds }, steps, ranSteps),
  };
}

/** Large steps at first, then ever smaller ones. */
function normAt(step: number, steps: number): number {
  return 0.5 + 2.5 * (1 + (12 * step) / steps) ** -0.8;
}

function sweepParts(
  setting: Setting,
  random: Random,
  clock: { startS: number; stepSeconds: number },
  steps: number,
  ranSteps: number,
): DemoPart[] {
  const failed = ranSteps < steps;
  const wer = finalWer(setting, random);
  const floor = 0.15 + wer * 4;
  const shape = { start: 7.2, floor, pace: steps / (4 + 1_000 * setting.lr), noise: 0.05 };
  const every = stepsOf(ranSteps);
  const checks = stepsOf(Math.floor(ranSteps / VALIDATE_EVERY), VALIDATE_EVERY, VALIDATE_EVERY - 1);
  const trouble = (step: number) => (failed ? Math.max(0, step - ranSteps * 0.85) : 0);
  const trainLoss = seriesOf(
    "train/loss",
    every,
    (step) =>
      failed && step >= ranSteps - 3 ? NaN : lossAt(step, shape, random) * (1 + 0.04 * trouble(step) ** 1.5),
    clock,
  );
  const series = [
    trainLoss,
    seriesOf(
      "train/grad_norm",
      every,
      (step) => normAt(step, steps) * Math.exp(0.3 * random.normal()) * (1 + trouble(step)),
      clock,
    ),
    seriesOf("train/lr", every, (step) => learningRateAt(step, steps, setting.lr, setting.warmup), clock),
    seriesOf("system/gpu_util", checks, busyShare(random), clock),
    seriesOf(
      "val/loss",
      checks,
      (step) => lossAt(step, { ...shape, floor: floor * 1.12, noise: 0.015 }, random),
      clock,
    ),
    seriesOf(
      "val/wer",
      checks,
      (step) =>
        Math.min(1, wer + (1 - wer) * Math.exp((-5 * step) / steps) + 0.003 * Math.abs(random.normal())),
      clock,
    ),
  ];
  const lines = progressLines(trainLoss, 20, steps);
  const endS = clock.startS + ranSteps * clock.stepSeconds;
  if (failed) {
    const reason = `FloatingPointError: loss is nan at step ${ranSteps - 1}`;
    for (const text of [...DIVERGED, reason]) lines.push({ timeS: endS + 1, text, stream: "stderr" });
    return [{ writer: "trainer", series, log: lines }];
  }
  lines.push({ timeS: endS + 20, text: `done: val/wer ${series.at(-1)!.values.at(-1)!.toFixed(4)}` });
  const model = {
    name: "model",
    step: BigInt(steps - 1),
    kind: ArtifactKind.MODEL,
    uri: `s3://models/speech/sweep/lr${setting.lr}-d${setting.depth}-s${setting.seed}/final.pt`,
    sizeBytes: BigInt(38_000_000 * setting.depth),
    metadata: { "val/wer": String(series.at(-1)!.values.at(-1)!) },
  };
  return [{ writer: "trainer", series, log: lines, artifacts: [model] }];
}
