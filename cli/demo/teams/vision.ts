import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import { LogOrigin } from "#proto/cairn/v1/log_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { Picture } from "#proto/cairn/v1/key_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { lossAt, scoreAt, stepsOf } from "../curves.ts";
import {
  daysAgo,
  type DemoPart,
  type DemoRun,
  type DemoSeries,
  type DemoTeam,
  type StoryOptions,
} from "../demo-run.ts";
import { confusionMatrix, histogram, prCurve, rocCurve, sampleGrid } from "../media.ts";
import { commitOf, provenanceOf } from "../story-provenance.ts";
import { progressLines, seriesOf } from "../story-series.ts";

const REPOSITORY = "https://git.example.org/vision/segment.git";
const RANKS = 8;
/** One of its memory modules is bad; all other ranks wait for it. */
const STRAGGLER = 5;
const CLASSES = ["road", "car", "person", "bicycle", "sign", "tree"] as const;

export function visionTeam(options: StoryOptions): DemoTeam {
  return {
    namespaces: [
      {
        path: "vision",
        description: "Street scenes: what is where in the picture.",
        objective: { metric: "val/miou", direction: Direction.MAXIMIZE },
        keys: [
          {
            key: "train/loss",
            unit: "nats",
            direction: Direction.MINIMIZE,
            description: "cross entropy per pixel",
          },
          {
            key: "val/miou",
            unit: "share",
            direction: Direction.MAXIMIZE,
            description: "mean intersection over union of six classes",
            picture: Picture.ACCURACY,
          },
          {
            key: "perf/step_seconds",
            unit: "s",
            direction: Direction.MINIMIZE,
            description: "wall time of one step",
          },
          {
            key: "system/gpu.temperature",
            unit: "°C",
            direction: Direction.MINIMIZE,
            description: "hottest spot of the GPU",
          },
          {
            key: "system/gpu.utilization",
            unit: "%",
            direction: Direction.MAXIMIZE,
            description: "share of a step that the GPU was busy",
          },
          {
            key: "eval/confusion.json",
            description: "rows are what it was",
            picture: Picture.CONFUSION_MATRIX,
          },
          { key: "eval/roc.json", description: "person against all others", picture: Picture.ROC },
          { key: "eval/pr.json", description: "person against all others", picture: Picture.PR },
          { key: "weights/encoder.json", description: "first convolution", picture: Picture.HISTOGRAM },
        ],
      },
      { path: "vision/segmentation", description: "U-Net and its successors." },
      { path: "vision/pretraining", description: "Large runs on many GPUs." },
    ],
    runs: [...segmentationRuns(options), distributedRun(options), scheduledRun(), killedRun(options)],
  };
}

function segmentationRuns({ random }: StoryOptions): DemoRun[] {
  const models = [
    { name: "unet-base", best: 0.612, width: 32, augment: false },
    { name: "unet-augmented", best: 0.668, width: 32, augment: true },
    { name: "unet-wide", best: 0.689, width: 64, augment: true },
  ];
  return models.map(({ name, best, width, augment }, i) => {
    const startS = daysAgo(16 - 4 * i);
    return {
      key: name,
      namespace: "vision/segmentation",
      name,
      params: { width, augment, lr: 0.001, epochs: 40, crop: [512, 512], classes: [...CLASSES] },
      tags: { team: "vision", owner: i === 2 ? "mei" : "jonas", dataset: "streets-2026" },
      notes:
        i === 2
          ? "Twice the width is worth **2.1 points**; the samples show where: thin poles and bicycles."
          : "",
      status: RunStatus.FINISHED,
      startS,
      endS: startS + 400 * 45,
      provenance: provenanceOf({
        user: "mei",
        repository: REPOSITORY,
        commit: commitOf(random, `segment/${i}`),
        command: ["python", "train.py", `--width=${width}`, ...(augment ? ["--augment"] : [])],
        machine: i,
        trainingData: ["s3://pictures/streets-2026/train"],
        testData: ["s3://pictures/streets-2026/val"],
      }),
      parts: () => {
        const own = random.fork(name);
        const clock = { startS, stepSeconds: 45 };
        const loss = seriesOf(
          "train/loss",
          stepsOf(400),
          (step) => lossAt(step, { start: 1.8, floor: 0.75 - best * 0.8, pace: 50, noise: 0.07 }, own),
          clock,
        );
        const checks = stepsOf(40, 10, 9);
        const miou = seriesOf("val/miou", checks, (step) => scoreAt(step, best, 70, 0.006, own), clock);
        const shown = [9, 49, 99, 199, 299, 399];
        return [
          {
            writer: "trainer",
            series: [loss, miou],
            log: progressLines(loss, 10, 400),
            artifacts: [
              ...shown.map((step) =>
                sampleGrid("samples/masks.png", step, (step / 399) ** 0.6, own.fork("samples")),
              ),
              ...shown.map((step) =>
                histogram("weights/encoder.json", step, 0.2 + step / 700, own.fork(step)),
              ),
              confusionMatrix("eval/confusion.json", 399, CLASSES, best + 0.2, own.fork("confusion")),
              rocCurve("eval/roc.json", 399, best + 0.28),
              prCurve("eval/pr.json", 399, best + 0.1),
              { name: "model", step: 399n, kind: ArtifactKind.MODEL, uri: `s3://models/vision/${name}.pt` },
            ],
          },
        ];
      },
      sources: [{ id: "s3://pictures/streets-2026" }],
    };
  });
}

function distributedRun({ random, scale }: StoryOptions): DemoRun {
  const startS = daysAgo(6);
  const steps = scale.rankSteps;
  const stepSeconds = 2.6;
  return {
    key: "distributed",
    namespace: "vision/pretraining",
    name: "vit-b16-8gpu",
    params: { model: "vit-b16", world_size: RANKS, global_batch: 4_096, lr: 0.003, precision: "bf16" },
    tags: { team: "vision", owner: "mei", launcher: "torchrun" },
    notes: `Slower than it should be: look at \`perf/step_seconds\` by rank. Rank ${STRAGGLER} keeps the others waiting.`,
    status: RunStatus.FINISHED,
    startS,
    endS: startS + steps * stepSeconds,
    provenance: provenanceOf({
      user: "mei",
      untrackedFiles: 3,
      repository: REPOSITORY,
      commit: commitOf(random, "vit"),
      command: ["torchrun", "--nnodes=2", "--nproc-per-node=4", "pretrain.py"],
      trainingData: ["s3://pictures/web-100m"],
    }),
    parallel: true,
    parts: () =>
      Array.from({ length: RANKS }, (_, rank) =>
        rankPart(random.fork(`rank/${rank}`), rank, steps, startS, stepSeconds),
      ),
    sources: [{ id: "s3://pictures/web-100m" }],
  };
}

function rankPart(
  random: StoryOptions["random"],
  rank: number,
  steps: number,
  startS: number,
  stepSeconds: number,
): DemoPart {
  const labels = { rank: String(rank), host: rank < 4 ? "gpu-a01" : "gpu-a02" };
  const clock = { startS, stepSeconds };
  const busy = rank === STRAGGLER ? 2.45 : 1.78;
  const all = stepsOf(steps);
  const compute = seriesOf(
    "perf/step_seconds",
    all,
    () => busy * Math.exp(0.03 * random.normal()),
    clock,
    labels,
  );
  const waits = compute.values.map((seconds) => Math.max(0.02, stepSeconds - seconds));
  const series = [
    compute,
    { ...compute, key: "perf/wait_seconds", values: waits },
    seriesOf(
      "train/loss",
      all,
      (step) => lossAt(step, { start: 6.9, floor: 2.4, pace: steps / 6, noise: 0.03 }, random),
      clock,
      labels,
    ),
  ];
  series.push(...hostSeries(random.fork("system"), rank, busy / stepSeconds, steps, clock, labels));
  const logged = stepsOf(20, Math.max(1, Math.floor(steps / 20)));
  const log = logged.map((step) => ({
    timeS: startS + step * stepSeconds,
    rank,
    text: `[rank ${rank}] step ${step} loss ${series[2]!.values[step]!.toFixed(3)}`,
  }));
  if (rank === STRAGGLER) {
    log.push({
      timeS: startS + 900,
      rank,
      text: "[rank 5] WARNING corrected ECC errors on GPU 1: 4127 since boot",
    });
  }
  return { writer: `rank-${rank}`, series, log };
}

/** What the machines measured: the GPU that repairs its memory all the time is the hottest, too. */
function hostSeries(
  random: StoryOptions["random"],
  rank: number,
  busyShare: number,
  steps: number,
  clock: { startS: number; stepSeconds: number },
  labels: Readonly<Record<string, string>>,
): DemoSeries[] {
  const warm = rank === STRAGGLER ? 88 : 62 + 2 * (rank % 4);
  const every = Math.max(1, Math.floor(steps / 100));
  const checks = stepsOf(Math.floor(steps / every), every);
  return [
    seriesOf(
      "system/gpu.temperature",
      checks,
      (step) => warm - (warm - 36) * Math.exp((-12 * step) / steps) + 0.6 * random.normal(),
      clock,
      labels,
    ),
    seriesOf(
      "system/gpu.utilization",
      checks,
      () => Math.min(100, 100 * busyShare + 1.5 * random.normal()),
      clock,
      labels,
    ),
  ];
}

function scheduledRun(): DemoRun {
  return {
    key: "scheduled",
    namespace: "vision/pretraining",
    name: "vit-l16-64gpu",
    params: { model: "vit-l16", world_size: 64, global_batch: 16_384, lr: 0.002, precision: "bf16" },
    tags: { team: "vision", owner: "mei", queue: "large" },
    notes: "Waits for the new rack.",
    status: RunStatus.SCHEDULED,
    startS: daysAgo(1),
  };
}

function killedRun({ random }: StoryOptions): DemoRun {
  const startS = daysAgo(5);
  const clock = { startS, stepSeconds: 4 };
  return {
    key: "killed",
    namespace: "vision/pretraining",
    name: "vit-b16-wrong-crop",
    params: { model: "vit-b16", world_size: 1, global_batch: 256, lr: 0.003, crop: 22 },
    tags: { team: "vision", owner: "mei" },
    notes: "The crop was 22, not 224.",
    status: RunStatus.KILLED,
    startS,
    endS: startS + 260 * 4,
    parts: () => {
      const own = random.fork("killed");
      const loss = seriesOf("train/loss", stepsOf(260), () => 6.7 + 0.05 * own.normal(), clock);
      return [
        {
          writer: "rank-0",
          series: [loss],
          log: [
            ...progressLines(loss, 20, 50_000),
            {
              timeS: startS + 260 * 4,
              text: "slurmstepd: error: *** STEP 91734.0 CANCELLED BY mei ***",
              stream: "stderr",
              origin: LogOrigin.SCHEDULER,
            },
          ],
        },
      ];
    },
  };
}
