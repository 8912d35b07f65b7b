import type { DemoLog, DemoSeries } from "./demo-run.ts";
import type { Random } from "./random.ts";

/** Points at steps that take about `stepSeconds` each. */
export function seriesOf(
  key: string,
  steps: readonly number[],
  valueAt: (step: number) => number,
  clock: { startS: number; stepSeconds: number },
  labels?: Readonly<Record<string, string>>,
): DemoSeries {
  return {
    key,
    ...(labels && { labels }),
    steps,
    values: steps.map(valueAt),
    timesS: steps.map((step) => clock.startS + (step + 1) * clock.stepSeconds),
  };
}

/** The console lines of a trainer: every n-th step of one series. */
export function progressLines(series: DemoSeries, every: number, steps: number): DemoLog[] {
  const lines: DemoLog[] = [];
  for (let i = 0; i < series.steps.length; i += every) {
    const value = series.values[i]!;
    lines.push({
      timeS: series.timesS[i]!,
      text: `step ${String(series.steps[i]).padStart(6)}/${steps} | ${series.key} ${value.toFixed(4)}`,
    });
  }
  return lines;
}

/** Share of a device that is busy, in percent: mostly high, now and then waiting for data. */
export function busyShare(random: Random): (step: number) => number {
  return () => (random.next() < 0.04 ? random.between(30, 70) : Math.min(100, 94 + 3 * random.normal()));
}

export const OUT_OF_MEMORY: readonly string[] = [
  "Traceback (most recent call last):",
  '  File "/workspace/train.py", line 318, in <module>',
  "    main(parse_args())",
  '  File "/workspace/train.py", line 241, in main',
  "    loss = trainer.step(batch)",
  '  File "/workspace/trainer.py", line 97, in step',
  "    loss.backward()",
  "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.44 GiB. GPU 0 has a total capacity of 39.39 GiB",
  "of which 1.12 GiB is free. Including non-PyTorch memory, this process has 38.26 GiB memory in use.",
];

export const DIVERGED: readonly string[] = [
  "Traceback (most recent call last):",
  '  File "/workspace/asr/train.py", line 204, in <module>',
  "    main()",
  '  File "/workspace/asr/train.py", line 171, in main',
  "    check_finite(loss, step)",
  '  File "/workspace/asr/checks.py", line 22, in check_finite',
  '    raise FloatingPointError(f"loss is {loss} at step {step}")',
];
