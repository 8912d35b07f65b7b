import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { useDark } from "../../../widgets/theme.ts";
import { histogramLines } from "../../../charts/lines/histogram-lines.ts";
import { SeriesChart } from "../../../charts/series-chart.tsx";
import { useZooms } from "../../../charts/use-zooms.ts";
import { Watched } from "../../../charts/watched.ts";
import { artifactText } from "../../../panels/artifacts/artifact-text.ts";
import { readPicture } from "../../../panels/artifacts/picture-data.ts";

/** So many steps are read; of more, as many evenly chosen ones. */
const STEPS_MAX = 40;
const HEIGHT_PX = 160;
const NO_SMOOTHING = { kind: "none" } as const;

/** How a distribution moves: steps from left to right, values from bottom to top, more is darker. */
export function HistogramOverSteps({ versions }: { versions: readonly Artifact[] }) {
  const chosen = useMemo(() => evenly(versions.filter(({ step }) => step !== undefined)), [versions]);
  const read = useQueries({
    queries: chosen.map((version) => artifactText(version)),
    combine: (results) => ({
      texts: results.map(({ data }) => data?.text),
      isWhole: results.every(({ data }) => data !== undefined),
    }),
  });
  const dark = useDark();
  const zooms = useZooms();
  const cursor = useMemo(() => new Watched<number | undefined>(undefined), []);
  const moving = useMemo(() => new Watched<readonly [number, number] | undefined>(undefined), []);
  const highlighted = useMemo(() => new Watched<string | undefined>(undefined), []);
  const lines = useMemo(() => {
    if (!read.isWhole) return [];
    const histograms = read.texts.flatMap((text, i) => {
      const picture = readPicture(text!);
      if (picture?.kind !== "histogram") return [];
      return [{ step: Number(chosen[i]!.step), edges: picture.edges, counts: picture.counts }];
    });
    return histograms.length < 2 ? [] : histogramLines(histograms);
  }, [read, chosen]);
  if (lines.length === 0) return null;
  return (
    <SeriesChart
      title="Histogram over steps"
      lines={lines}
      height={HEIGHT_PX}
      dark={dark}
      order="falling"
      heat
      counts
      xKind="step"
      log={false}
      clip={false}
      smoothing={NO_SMOOTHING}
      cursor={cursor}
      moving={moving}
      highlighted={highlighted}
      {...zooms}
    />
  );
}

function evenly(versions: readonly Artifact[]): Artifact[] {
  if (versions.length <= STEPS_MAX) return [...versions];
  return Array.from(
    { length: STEPS_MAX },
    (_, i) => versions[Math.round((i * (versions.length - 1)) / (STEPS_MAX - 1))]!,
  );
}
