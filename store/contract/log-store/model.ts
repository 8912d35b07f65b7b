import fc from "fast-check";
import { expect, it } from "vitest";
import { EVERY_LINE, type LogFilter, type LogLines } from "#core/types/log.ts";
import type { LinePattern } from "#core/ports/log-store.ts";
import { logLines, NaiveLog } from "../naive-log.ts";
import { appendOne, createRun, envelope, NOW_US, useSharedStores, type OpenStores } from "../stores.ts";

/** What may happen to a log, one after another. */
type Step =
  | { do: "append"; run: number; log: LogLines[]; nowUs: number }
  | { do: "settle" }
  | { do: "reopen" }
  | { do: "read"; run: number; filter: LogFilter; from: number; limit: number }
  | { do: "search"; run: number; filter: LogFilter; from: number; limit: number; pattern: LinePattern };

const TEXTS = [
  "",
  "a",
  "ab",
  "ba",
  "loss 1",
  "loss 2",
  "größe",
  "🐈",
  "\n",
  "a\u0000b",
  "\ufeffx",
  "loss 1 loss 2",
  "STEP 1 kelvin",
  "\u017ftep \u212aelvin",
];
const STREAMS = ["stdout", "stderr", "größe"];
const TIMES = [NOW_US, NOW_US + 1, NOW_US + 1000, NOW_US - 5, 0, -1, 2 ** 53, -(2 ** 53)];

const textArbitrary = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...TEXTS) },
  fc.string({ unit: "binary", maxLength: 10 }),
);
const rankArbitrary = fc.constantFrom(undefined, 0, 1, 7, -1, 2 ** 31 - 1, -(2 ** 31));
const timeArbitrary = fc.constantFrom(...TIMES);

const groupArbitrary: fc.Arbitrary<LogLines> = fc
  .record({
    texts: fc.array(textArbitrary, { maxLength: 5 }),
    origin: fc.constantFrom("process" as const, "process" as const, "scheduler" as const),
    stream: fc.constantFrom(...STREAMS),
    rank: rankArbitrary,
    times: fc.option(fc.array(timeArbitrary, { minLength: 5, maxLength: 5 }), { nil: undefined }),
  })
  .map(({ texts, times, ...source }) =>
    logLines(texts, { ...source, times: times && Float64Array.from(times.slice(0, texts.length)) }),
  );

const filterArbitrary: fc.Arbitrary<LogFilter> = fc.oneof(
  fc.constant(EVERY_LINE),
  fc.record({
    origin: fc.constantFrom(undefined, undefined, "process" as const, "scheduler" as const),
    stream: fc.constantFrom(undefined, undefined, ...STREAMS, "other"),
    rank: fc.oneof(fc.constant(undefined), rankArbitrary),
    fromUs: fc.option(timeArbitrary, { nil: undefined }),
    toUs: fc.option(timeArbitrary, { nil: undefined }),
  }),
);

const patternArbitrary: fc.Arbitrary<LinePattern> = fc.oneof(
  fc.constantFrom("a", "b", "loss", "1", "ö", "🐈", "\n", "\u0000", "ba", "s 1").map((text) => ({
    kind: "text" as const,
    text,
  })),
  fc.constantFrom("a", "LOSS", "step", "KELVIN", "Ö", "b", "s 1").map((text) => ({
    kind: "caseless" as const,
    text,
  })),
  fc.constantFrom("^$", "a.b", "loss [12]$", "^.{2}$", "ö|🐈", "[^a-z]", "(loss \\d ?)+").map((regex) => ({
    kind: "regex" as const,
    regex: `(?s:${regex})`,
  })),
);

const place = {
  run: fc.nat(1),
  filter: filterArbitrary,
  from: fc.oneof(fc.nat(30), fc.integer({ min: -12, max: -1 }), fc.constant(0)),
  limit: fc.constantFrom(1, 2, 5, 10_000),
};

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      run: fc.nat(1),
      log: fc.array(groupArbitrary, { minLength: 1, maxLength: 4 }),
      nowUs: fc.constantFrom(NOW_US, NOW_US + 7, NOW_US - 3_600_000_000),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("read" as const), ...place }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("search" as const), ...place, pattern: patternArbitrary }),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ do: "settle" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "reopen" }) },
);

export function logModelContract(open: OpenStores, cases: number): void {
  const bench = useSharedStores(open);

  it("L1, L4, L5 equals a list of lines through any appends, merges, restarts, reads and searches", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 4, maxLength: 25 }), async (steps) => {
        const runs = await Promise.all([createRun(bench.runs), createRun(bench.runs)]);
        const models = [new NaiveLog(), new NaiveLog()];
        for (const step of steps) {
          if (step.do === "settle") await bench.under.settle();
          else if (step.do === "reopen") await bench.reopen();
          else {
            const runId = runs[step.run]!;
            const model = models[step.run]!;
            const { logs } = bench.under;
            if (step.do === "append") {
              await appendOne(bench.journal, envelope(runId, 0, { log: step.log }), step.nowUs);
              model.append(step.log, step.nowUs);
              expect(await logs.lineCount(runId)).toBe(model.lines.length);
            } else if (step.do === "read") {
              expect(await logs.readLog({ ...step, runId })).toEqual(model.read(step));
            } else {
              expect(await logs.searchLog({ ...step, runId })).toEqual(
                model.search({
                  ...step,
                  pattern:
                    step.pattern.kind !== "regex"
                      ? step.pattern
                      : // JavaScript spells the same flag differently.
                        { kind: "regex", regex: step.pattern.regex.replace("(?s:", "(?:") },
                }),
              );
            }
          }
        }
        for (const [at, runId] of runs.entries()) {
          const all = { filter: EVERY_LINE, from: 0, limit: 10_000 };
          expect(await bench.under.logs.readLog({ ...all, runId })).toEqual(models[at]!.read(all));
          expect((await bench.runs.verifyRun(runId)).problems).toEqual([]);
        }
      }),
      { numRuns: cases },
    );
  });
}
