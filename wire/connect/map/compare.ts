import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Comparison } from "#core/compare/comparisons.ts";
import type { ComparedMetric, ComparedValue, Delta } from "#core/compare/metrics.ts";
import type { PartName } from "#core/compare/parts.ts";
import type { PatchDifference } from "#core/compare/patches.ts";
import {
  CompareRunsResponseSchema,
  Part,
  PatchDifference_How as How,
  Verdict,
  type ComparedMetricSchema,
  type ComparedValueSchema,
  type CompareRunsResponse,
} from "#proto/cairn/v1/explore_pb.ts";
import { fromDirection, fromHeld } from "./namespace.ts";
import { fromRun } from "./run.ts";

const PARTS: Readonly<Record<PartName, Part>> = {
  params: Part.PARAMS,
  tags: Part.TAGS,
  code: Part.CODE,
  command: Part.COMMAND,
  data: Part.DATA,
  packages: Part.PACKAGES,
  environment: Part.ENVIRONMENT,
  run: Part.RUN,
};

const HOWS: Readonly<Record<PatchDifference["how"], How>> = {
  same: How.SAME,
  own: How.OWN,
  missing: How.MISSING,
  between: How.BETWEEN,
  "too-different": How.TOO_DIFFERENT,
};

const VERDICTS: Readonly<Record<NonNullable<Delta["verdict"]>, Verdict>> = {
  same: Verdict.SAME,
  better: Verdict.BETTER,
  worse: Verdict.WORSE,
};

export function fromComparison(comparison: Comparison): CompareRunsResponse {
  const { objective } = comparison;
  return create(CompareRunsResponseSchema, {
    runs: comparison.runs.map((run) => fromRun(run)),
    parts: comparison.parts.map(({ part, rows, equalRows }) => ({
      part: PARTS[part],
      rows: rows.map(({ key, texts, text, meaning }) => ({
        key,
        texts: [...texts],
        text: [...text],
        meaning: [...meaning],
      })),
      equalRows: BigInt(equalRows),
    })),
    metrics: comparison.metrics.map(fromMetric),
    equalMetrics: BigInt(comparison.equalMetrics),
    ...(objective !== undefined && { objective: fromHeld(objective) }),
    patches: comparison.patches.map(({ how, lines, moreLines }) => ({
      how: HOWS[how],
      lines: [...lines],
      moreLines: BigInt(moreLines),
    })),
    metricsTruncated: comparison.metricsTruncated,
    missing: [...comparison.missing],
  });
}

function fromMetric(metric: ComparedMetric): MessageInitShape<typeof ComparedMetricSchema> {
  const { key, labels, stat, unit, direction, isObjective, differs, values } = metric;
  return {
    key,
    labels: Object.fromEntries(labels),
    stat,
    unit,
    direction: fromDirection(direction),
    isObjective,
    differs,
    values: values.map(fromValue),
  };
}

function fromValue(value: ComparedValue | undefined): MessageInitShape<typeof ComparedValueSchema> {
  if (value === undefined) return {};
  const { step, best, delta } = value;
  return {
    value: value.value,
    ...(step !== undefined && { step: BigInt(step) }),
    best,
    ...(delta !== undefined && {
      difference: delta.difference,
      ...(delta.share !== undefined && { share: delta.share }),
      ...(delta.verdict !== undefined && { verdict: VERDICTS[delta.verdict] }),
    }),
  };
}
