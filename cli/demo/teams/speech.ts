import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { Picture } from "#proto/cairn/v1/key_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { lossAt, stepsOf } from "../curves.ts";
import { daysAgo, HOUR_S, type DemoRun, type DemoTeam, type StoryOptions } from "../demo-run.ts";
import { csvTable, utterance } from "../media.ts";
import { commitOf, provenanceOf } from "../story-provenance.ts";
import { progressLines, seriesOf } from "../story-series.ts";
import { sweepRuns } from "./speech-sweep.ts";

const REPOSITORY = "https://git.example.org/speech/asr.git";

/** Four generations: a corpus, a pretrained model, fine-tuned ones, and what was made and measured of them. */
export function speechTeam(options: StoryOptions): DemoTeam {
  return {
    namespaces: [
      {
        path: "speech",
        description: "Speech recognition. The objective is the word error rate on dev-other.",
        objective: { metric: "val/wer", direction: Direction.MINIMIZE },
        keys: [
          {
            key: "train/loss",
            unit: "nats",
            direction: Direction.MINIMIZE,
            description: "CTC loss per frame",
          },
          {
            key: "val/loss",
            unit: "nats",
            direction: Direction.MINIMIZE,
            description: "CTC loss on dev-other",
          },
          {
            key: "val/wer",
            unit: "share of words",
            direction: Direction.MINIMIZE,
            description: "word error rate on dev-other, greedy decoding",
            picture: Picture.ACCURACY,
          },
          {
            key: "system/gpu_util",
            unit: "%",
            direction: Direction.MAXIMIZE,
            description: "busy share of the GPU",
          },
        ],
      },
      { path: "speech/data", description: "Corpora and how they were made." },
      {
        path: "speech/sweep",
        description: "Learning rate × depth × seed, for the encoder of the next model.",
      },
      { path: "speech/en_wav2vec", description: "The English model: pretrained, fine-tuned, distilled." },
    ],
    runs: [...lineageRuns(options), ...sweepRuns(options)],
  };
}

function lineageRuns(options: StoryOptions): DemoRun[] {
  return [corpusRun(options), pretrainRun(options), ...fineTunedRuns(options), ...lastRuns(options)];
}

/** The first run of the story: its start is where all times are counted from. */
function corpusRun({ random }: StoryOptions): DemoRun {
  const startS = 0;
  return {
    key: "corpus",
    namespace: "speech/data",
    name: "corpus-v3",
    params: { languages: ["en"], min_seconds: 1, max_seconds: 20, sample_rate: 16_000, shards: 512 },
    tags: { team: "speech", stage: "data", owner: "tomasz" },
    notes:
      "# corpus-v3\n\n960 h of LibriSpeech and 400 h of our own recordings, cut at silences.\n\n- **removed**: 2.1 % of utterances with a transcript that does not align\n- licence: see `s3://corpora/LICENSES`\n",
    status: RunStatus.FINISHED,
    startS,
    endS: startS + 5 * HOUR_S,
    provenance: provenanceOf({
      user: "tomasz",
      repository: REPOSITORY,
      commit: commitOf(random, "asr/0"),
      command: ["python", "-m", "asr.data.build", "--version=3"],
      machine: 2,
    }),
    parts: () => {
      const own = random.fork("corpus");
      const shards = stepsOf(64);
      const hours = seriesOf("data/hours", shards, (step) => (step + 1) * 21.25 + own.normal(), {
        startS,
        stepSeconds: 280,
      });
      const dataset = {
        name: "corpus",
        kind: ArtifactKind.DATASET,
        uri: "s3://corpora/speech/v3",
        metadata: { hours: "1360", utterances: "1284033" },
      };
      return [{ writer: "builder", series: [hours], log: progressLines(hours, 8, 64), artifacts: [dataset] }];
    },
    sources: [{ id: "s3://corpora/librispeech/train-960" }, { id: "s3://recordings/2026-spring" }],
  };
}

function pretrainRun({ random, scale }: StoryOptions): DemoRun {
  const startS = daysAgo(25);
  const steps = scale.restartSteps;
  const stepSeconds = (2.5 * 86_400) / steps;
  return {
    key: "pretrain",
    namespace: "speech/en_wav2vec",
    name: "wav2vec-pretrain",
    params: {
      model: { depth: 24, width: 1_024, heads: 16 },
      optim: { name: "adamw", lr: 0.0005 },
      mask: 0.65,
      steps,
    },
    tags: { team: "speech", stage: "pretrain", owner: "ines" },
    status: RunStatus.FINISHED,
    startS,
    endS: startS + steps * stepSeconds,
    provenance: provenanceOf({
      user: "ines",
      repository: REPOSITORY,
      commit: commitOf(random, "asr/0"),
      command: ["torchrun", "--nproc-per-node=8", "-m", "asr.pretrain"],
      trainingData: ["s3://corpora/speech/v3"],
    }),
    parts: () => {
      const own = random.fork("pretrain");
      const shape = { start: 6.8, floor: 1.9, pace: steps / 9, noise: 0.02 };
      const loss = seriesOf("train/loss", stepsOf(steps), (step) => lossAt(step, shape, own), {
        startS,
        stepSeconds,
      });
      const checkpoints = [0.5, 1].map((share) => ({
        name: "encoder",
        step: BigInt(Math.round(steps * share) - 1),
        kind: ArtifactKind.MODEL,
        uri: `s3://models/speech/wav2vec/step-${Math.round(steps * share)}.pt`,
        sizeBytes: 1_264_000_000n,
      }));
      return [
        {
          writer: "rank-0",
          series: [loss],
          log: progressLines(loss, Math.ceil(steps / 60), steps),
          artifacts: checkpoints,
        },
      ];
    },
    sources: [{ run: "corpus", artifact: "corpus" }],
  };
}

function fineTunedRuns({ random }: StoryOptions): DemoRun[] {
  const steps = 300;
  return [
    { hours: 10, wer: 0.118 },
    { hours: 100, wer: 0.081 },
    { hours: 960, wer: 0.062 },
  ].map(({ hours, wer }, i) => {
    const startS = daysAgo(18 - i * 2);
    const stepSeconds = 60;
    return {
      key: `finetune-${hours}`,
      namespace: "speech/en_wav2vec",
      name: `wav2vec-finetune-${hours}h`,
      params: { hours, lr: 0.00003, freeze_steps: 50, dropout: 0.1, seed: 7 },
      tags: { team: "speech", stage: "finetune", owner: "ines", ...(hours === 960 && { best: "yes" }) },
      status: RunStatus.FINISHED,
      startS,
      endS: startS + steps * stepSeconds,
      provenance: provenanceOf({
        user: "ines",
        repository: REPOSITORY,
        commit: commitOf(random, "asr/1"),
        command: ["python", "-m", "asr.finetune", `--hours=${hours}`],
        machine: i,
        initialState: "s3://models/speech/wav2vec/step-final.pt",
        trainingData: [`s3://corpora/librispeech/train-${hours}`],
        testData: ["s3://corpora/librispeech/dev-other"],
      }),
      parts: () => {
        const own = random.fork(`finetune/${hours}`);
        const clock = { startS, stepSeconds };
        const loss = seriesOf(
          "train/loss",
          stepsOf(steps),
          (step) => lossAt(step, { start: 3, floor: wer * 3, pace: 30, noise: 0.06 }, own),
          clock,
        );
        const checks = stepsOf(30, 10, 9);
        const wers = seriesOf(
          "val/wer",
          checks,
          (step) => wer + 0.5 * Math.exp(-step / 40) + 0.002 * own.normal(),
          clock,
        );
        return [
          {
            writer: "trainer",
            series: [loss, wers],
            log: progressLines(loss, 10, steps),
            artifacts: [
              ...[9, 99, 299].map((step) =>
                utterance("samples/denoised.wav", step, step / 300, own.fork("voice")),
              ),
              {
                name: "model",
                step: 299n,
                kind: ArtifactKind.MODEL,
                uri: `s3://models/speech/wav2vec-${hours}h/final.pt`,
                sizeBytes: 1_264_000_000n,
              },
            ],
          },
        ];
      },
      sources: [{ run: "pretrain", artifact: "encoder" }, { id: `s3://corpora/librispeech/train-${hours}` }],
    };
  });
}

function lastRuns({ random }: StoryOptions): DemoRun[] {
  const evaluatedS = daysAgo(12);
  const distilledS = daysAgo(11);
  const sets = ["dev-clean", "dev-other", "test-clean", "test-other"] as const;
  return [
    {
      key: "evaluate",
      namespace: "speech/en_wav2vec",
      name: "wav2vec-evaluate",
      params: { beam: 8, language_model: "4-gram" },
      tags: { team: "speech", stage: "evaluate", owner: "priya" },
      status: RunStatus.FINISHED,
      startS: evaluatedS,
      endS: evaluatedS + 1_500,
      parts: () => {
        const clock = { startS: evaluatedS, stepSeconds: 300 };
        const own = random.fork("evaluate");
        const wers = sets.map((set, i) =>
          seriesOf("test/wer", [0], () => 0.028 + 0.018 * i + 0.001 * own.normal(), clock, { set }),
        );
        const rows = sets.map((set, i) => [
          set,
          [2_703, 2_864, 2_620, 2_939][i]!,
          wers[i]!.values[0]!.toFixed(4),
        ]);
        return [
          {
            writer: "evaluator",
            series: wers,
            log: sets.map((set, i) => ({ timeS: evaluatedS + 300 * i, text: `${set}: done` })),
            artifacts: [csvTable("eval/by-set.csv", 0, [["set", "utterances", "wer"], ...rows])],
          },
        ];
      },
      sources: [{ run: "finetune-960", artifact: "model" }],
    },
    {
      key: "distil",
      namespace: "speech/en_wav2vec",
      name: "wav2vec-distilled",
      params: { depth: 6, temperature: 2, alpha: 0.7, lr: 0.0003 },
      tags: { team: "speech", stage: "distil", owner: "priya", deploy: "candidate" },
      status: RunStatus.FINISHED,
      startS: distilledS,
      endS: distilledS + 20 * HOUR_S,
      parts: () => {
        const own = random.fork("distil");
        const clock = { startS: distilledS, stepSeconds: 180 };
        const shape = { start: 2.1, floor: 0.31, pace: 40, noise: 0.04 };
        const loss = seriesOf("train/loss", stepsOf(400), (step) => lossAt(step, shape, own), clock);
        const wers = seriesOf(
          "val/wer",
          stepsOf(20, 20, 19),
          (step) => 0.071 + 0.4 * Math.exp(-step / 60) + 0.001 * own.normal(),
          clock,
        );
        const model = {
          name: "model",
          step: 399n,
          kind: ArtifactKind.MODEL,
          uri: "s3://models/speech/wav2vec-distilled/final.pt",
          sizeBytes: 188_000_000n,
        };
        return [
          { writer: "trainer", series: [loss, wers], log: progressLines(loss, 20, 400), artifacts: [model] },
        ];
      },
      sources: [
        { run: "finetune-960", artifact: "model" },
        { run: "finetune-100", artifact: "model" },
      ],
    },
  ];
}
