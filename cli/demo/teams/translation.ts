import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import { LogOrigin } from "#proto/cairn/v1/log_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { lossAt, stepsOf } from "../curves.ts";
import {
  daysAgo,
  type DemoLog,
  type DemoPart,
  type DemoRun,
  type DemoTeam,
  type StoryOptions,
} from "../demo-run.ts";
import { commitOf, provenanceOf } from "../story-provenance.ts";
import { OUT_OF_MEMORY, progressLines, seriesOf } from "../story-series.ts";

const REPOSITORY = "https://git.example.org/translation/mt.git";
/** Where the one point that stands out is, as a share of the run. */
const SPIKE_AT = 0.618;
const SPIKE_LOSS = 11.7;

export function translationTeam(options: StoryOptions): DemoTeam {
  return {
    namespaces: [
      {
        path: "translation",
        description: "German, French and Polish to English.",
        objective: { metric: "val/bleu", direction: Direction.MAXIMIZE },
        keys: [
          {
            key: "train/loss",
            unit: "nats",
            direction: Direction.MINIMIZE,
            description: "cross entropy per token",
          },
          {
            key: "val/bleu",
            unit: "points",
            direction: Direction.MAXIMIZE,
            description: "sacreBLEU on newstest",
          },
        ],
      },
      { path: "translation/nightly", description: "Nightly runs." },
      {
        path: "translation/confidential",
        description: "Customer data. Closed: only principals with a role on it have access.",
        closed: true,
      },
    ],
    runs: [
      restartedRun(options),
      burstRun(options),
      spikeRun(options),
      lostRun(options),
      confidentialRun(options),
    ],
  };
}

/** Out of memory after a bit more than half; the second attempt resumed from the last checkpoint. */
function restartedRun({ random, scale }: StoryOptions): DemoRun {
  const startS = daysAgo(4);
  const steps = scale.restartSteps;
  const stepSeconds = 6;
  const crashedAt = Math.floor(steps * 0.55);
  const resumedAt = Math.floor(steps * 0.45);
  const resumedS = startS + crashedAt * stepSeconds + 1_800;
  return {
    key: "restarted",
    namespace: "translation/nightly",
    name: "mt-de-en-restarted",
    params: {
      source: "de",
      target: "en",
      lr: 0.0007,
      max_tokens: 16_384,
      checkpoint_every: Math.floor(steps * 0.15),
    },
    tags: { team: "translation", owner: "olu", retries: "1" },
    notes: `Ran out of memory at step ${crashedAt} and resumed from the checkpoint at ${resumedAt}. What it logged between the two was replaced.`,
    status: RunStatus.FINISHED,
    startS,
    endS: resumedS + (steps - resumedAt) * stepSeconds,
    provenance: provenanceOf({
      user: "olu",
      repository: REPOSITORY,
      commit: commitOf(random, "mt/1"),
      command: ["python", "-m", "mt.train", "--pair=de-en"],
      machine: 2,
    }),
    parts: () => {
      const shape = { start: 9.1, floor: 2.2, pace: steps / 8, noise: 0.03 };
      const attempt = (writer: string, from: number, to: number, beganS: number): DemoPart => {
        const own = random.fork(`restarted/${writer}`);
        const clock = { startS: beganS - from * stepSeconds, stepSeconds };
        const loss = seriesOf(
          "train/loss",
          stepsOf(to - from, 1, from),
          (step) => lossAt(step, shape, own),
          clock,
        );
        const bleu = seriesOf(
          "val/bleu",
          stepsOf(Math.floor((to - from) / 50), 50, from + 49),
          (step) => 31.4 * (1 - Math.exp((-4 * step) / steps)) + 0.2 * own.normal(),
          clock,
        );
        return { writer, series: [loss, bleu], log: progressLines(loss, Math.ceil(steps / 100), steps) };
      };
      const first = attempt("attempt-0", 0, crashedAt, startS);
      const second = attempt("attempt-1", resumedAt, steps, resumedS);
      const crashS = startS + crashedAt * stepSeconds;
      const scheduler = { origin: LogOrigin.SCHEDULER, stream: "stderr" };
      const crash: DemoLog[] = [
        ...OUT_OF_MEMORY.map((text) => ({ timeS: crashS, text, stream: "stderr" })),
        { timeS: crashS + 2, text: "job 48213: exit code 1, 1 of 3 attempts used", ...scheduler },
        { timeS: resumedS - 20, text: "job 48213: starting attempt 2 of 3", ...scheduler },
      ];
      const model = {
        name: "model",
        step: BigInt(steps - 1),
        kind: ArtifactKind.MODEL,
        uri: "s3://models/mt/de-en.pt",
      };
      return [
        { ...first, log: [...first.log!, ...crash] },
        {
          ...second,
          log: [{ timeS: resumedS, text: `resuming from checkpoint ${resumedAt}` }, ...second.log!],
          artifacts: [model],
        },
      ];
    },
    sources: [{ id: "s3://corpora/news-crawl/de-en" }],
  };
}

/** Half precision: the scale of the loss was too large now and then. */
function burstRun({ random }: StoryOptions): DemoRun {
  const startS = daysAgo(3);
  const clock = { startS, stepSeconds: 8 };
  const bursts = [
    [210, 224],
    [505, 530],
    [741, 744],
  ] as const;
  return {
    key: "bursts",
    namespace: "translation/nightly",
    name: "mt-fr-en-fp16",
    params: { source: "fr", target: "en", lr: 0.0007, precision: "fp16", loss_scale: 65_536 },
    tags: { team: "translation", owner: "olu" },
    status: RunStatus.FINISHED,
    startS,
    endS: startS + 1_000 * 8,
    provenance: provenanceOf({
      user: "olu",
      repository: REPOSITORY,
      commit: commitOf(random, "mt/1"),
      command: ["python", "-m", "mt.train", "--pair=fr-en", "--fp16"],
      machine: 1,
    }),
    parts: () => {
      const own = random.fork("bursts");
      const shape = { start: 8.8, floor: 2.4, pace: 90, noise: 0.04 };
      const loss = seriesOf(
        "train/loss",
        stepsOf(1_000),
        (step) => (bursts.some(([from, to]) => step >= from && step < to) ? NaN : lossAt(step, shape, own)),
        clock,
      );
      const bleu = seriesOf(
        "val/bleu",
        stepsOf(20, 50, 49),
        (step) => 29 * (1 - Math.exp(-step / 250)) + 0.2 * own.normal(),
        clock,
      );
      const warnings = bursts.map(([from]) => ({
        timeS: startS + from * 8,
        text: "WARNING gradient overflow, loss scale halved",
        stream: "stderr",
      }));
      return [
        { writer: "trainer", series: [loss, bleu], log: [...progressLines(loss, 20, 1_000), ...warnings] },
      ];
    },
    sources: [{ id: "s3://corpora/news-crawl/fr-en" }],
  };
}

/** One damaged batch among very many: a single point, which every picture of this run has to show. */
function spikeRun({ random, scale }: StoryOptions): DemoRun {
  const startS = daysAgo(8);
  const points = scale.spikePoints;
  const clock = { startS, stepSeconds: 0.9 };
  const spike = Math.floor(points * SPIKE_AT);
  return {
    key: "spike",
    namespace: "translation/nightly",
    name: "mt-pl-en-long",
    params: { source: "pl", target: "en", lr: 0.0005, max_tokens: 8_192, steps: points },
    tags: { team: "translation", owner: "ada" },
    notes: "One batch in all of these was damaged. Can you see it?",
    status: RunStatus.FINISHED,
    startS,
    endS: startS + points * 0.9,
    provenance: provenanceOf({
      user: "ada",
      repository: REPOSITORY,
      commit: commitOf(random, "mt/2"),
      command: ["python", "-m", "mt.train", "--pair=pl-en"],
      machine: 1,
    }),
    parts: () => {
      const own = random.fork("spike");
      const shape = { start: 9.3, floor: 2.0, pace: points / 12, noise: 0.02 };
      const loss = seriesOf(
        "train/loss",
        stepsOf(points),
        (step) => (step === spike ? SPIKE_LOSS : lossAt(step, shape, own)),
        clock,
      );
      const every = Math.max(1, Math.floor(points / 100));
      const bleu = seriesOf(
        "val/bleu",
        stepsOf(100, every, every - 1),
        (step) => 27.8 * (1 - Math.exp((-6 * step) / points)) + 0.15 * own.normal(),
        clock,
      );
      return [
        {
          writer: "trainer",
          series: [loss, bleu],
          log: progressLines(loss, Math.ceil(points / 200), points),
        },
      ];
    },
    sources: [{ id: "s3://corpora/paracrawl/pl-en" }],
  };
}

function lostRun({ random }: StoryOptions): DemoRun {
  const startS = daysAgo(2);
  const clock = { startS, stepSeconds: 5 };
  return {
    key: "lost",
    namespace: "translation/nightly",
    name: "mt-cs-en-spot",
    params: { source: "cs", target: "en", lr: 0.0007, instance: "spot" },
    tags: { team: "translation", owner: "ada" },
    status: RunStatus.LOST,
    startS,
    endS: startS + 340 * 5,
    parts: () => {
      const own = random.fork("lost");
      const shape = { start: 9, floor: 2.3, pace: 80, noise: 0.04 };
      const loss = seriesOf("train/loss", stepsOf(340), (step) => lossAt(step, shape, own), clock);
      return [{ writer: "trainer", series: [loss], log: progressLines(loss, 20, 4_000) }];
    },
  };
}

function confidentialRun({ random }: StoryOptions): DemoRun {
  const startS = daysAgo(7);
  const clock = { startS, stepSeconds: 20 };
  return {
    key: "confidential",
    namespace: "translation/confidential",
    name: "mt-contracts",
    params: { source: "de", target: "en", lr: 0.0001, adapter: "lora", rank: 16 },
    tags: { team: "translation", owner: "olu", customer: "under contract" },
    notes: "Only the team may see that this exists.",
    status: RunStatus.FINISHED,
    startS,
    endS: startS + 200 * 20,
    parts: () => {
      const own = random.fork("confidential");
      const loss = seriesOf(
        "train/loss",
        stepsOf(200),
        (step) => lossAt(step, { start: 3.4, floor: 1.1, pace: 25, noise: 0.05 }, own),
        clock,
      );
      const bleu = seriesOf(
        "val/bleu",
        stepsOf(10, 20, 19),
        (step) => 38 + 6 * (1 - Math.exp(-step / 60)) + 0.2 * own.normal(),
        clock,
      );
      return [{ writer: "trainer", series: [loss, bleu], log: progressLines(loss, 10, 200) }];
    },
    sources: [{ run: "restarted", artifact: "model" }],
  };
}
