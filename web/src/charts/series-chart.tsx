import { useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { drawnOf, pictureOf, type PictureOptions } from "./chart-picture.ts";
import { ChartTooltip, type Pointed } from "./chart-tooltip.tsx";
import type { Frame } from "./frame.ts";
import { heatOf, readingOfRow } from "./heat.ts";
import { nearestReading, readingsAt, type Order } from "./hover.ts";
import { extentOfX, type Line } from "./line.ts";
import type { XRange } from "./motion.ts";
import styles from "./series-chart.module.css";
import { sentenceOf } from "./summary.ts";
import { useChartPaint } from "./use-chart-paint.ts";
import { useChartPointer } from "./use-chart-pointer.ts";
import { Watched } from "./watched.ts";

export interface SeriesChartProps extends PictureOptions {
  /** What is drawn, for people who do not see it. */
  title: string;
  lines: readonly Line[];
  height: number;
  /** Repaints when the colours of the page change. */
  dark: boolean;
  /** Which values stand first in the tooltip. */
  order: Order;
  /** Shared by the charts of a page: where the crosshair stands. */
  cursor: Watched<number | undefined>;
  /** Shared by the charts of a page: the range of x while it is being moved. */
  moving: Watched<XRange | undefined>;
  /** Shared by everything on a page: the run that is lit. */
  lit: Watched<string | undefined>;
  /** Values in the tooltip are held against the line of this run. */
  baseline?: string | undefined;
  /** A row of colours per line instead of its height. */
  heat?: boolean;
  /** Of a heat map: the values are counts. */
  counts?: boolean;
  onZoom(range: XRange): void;
  onZoomY(range: XRange): void;
  /** Everything is to be shown. */
  onReset(): void;
  /** Where `width` is told, for reads at the right resolution. */
  onWidth?(width: number): void;
}

const REACH_PX = 28;

/** Lines on a canvas, over one with the grid, which stays when lines step back, and under one for what follows the pointer. */
export function SeriesChart(props: SeriesChartProps) {
  const { title, lines, height, dark, order, cursor, lit, xKind, xName, log, clip, smoothing } = props;
  const { zoom, zoomY, fixedY } = props;
  const box = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLCanvasElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [pinned, setPinned] = useState<Pointed>();
  const pointed = useMemo(() => new Watched<Pointed | undefined>(undefined), []);
  const plot = useRef<HTMLDivElement>(null);
  const tooltipId = useId();
  const { onWidth } = props;

  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => {
      const next = Math.floor(element.clientWidth);
      setWidth(next);
      if (next > 0) onWidth?.(next);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [onWidth]);

  const drawn = useMemo(() => drawnOf(lines, smoothing), [lines, smoothing]);
  const picture = useMemo(
    () => pictureOf(lines, width, height, { xKind, log, clip, smoothing, zoom, zoomY, fixedY }),
    [lines, width, height, xKind, log, clip, smoothing, zoom, zoomY, fixedY],
  );
  const isHeat = props.heat === true && lines.every((line) => line.words === undefined);
  const { counts } = props;
  const heat = useMemo(
    () => (isHeat ? heatOf(lines, width, height, { xKind, log, clip, zoom, counts }) : undefined),
    [isHeat, lines, width, height, xKind, log, clip, zoom, counts],
  );
  const frame = heat?.frame ?? picture?.frame;

  const extent = useMemo(() => extentOfX(lines), [lines]);
  const { moving } = props;
  const { frameNow, setDrag } = useChartPaint({
    box,
    grid,
    base,
    over,
    frame,
    heat,
    drawn,
    width,
    height,
    xKind,
    log,
    dark,
    zoom,
    moving,
    cursor,
    lit,
  });

  const pointer = useChartPointer({
    plot,
    frameNow,
    extent,
    isZoomed: zoom !== undefined,
    onPoint: ({ x: pixelX, y: pixelY, clientX, clientY }) => {
      const now = frameNow();
      if (now === undefined) return;
      const x = now.x.toValue(pixelX);
      const slack = Math.abs(now.x.toValue(pixelX + REACH_PX) - x);
      const readings = readingsAt(drawn, x, slack, order);
      const near =
        heat === undefined
          ? nearestReading(readings, now, x, pixelY, REACH_PX)
          : readingOfRow(readings, drawn, now, pixelY);
      cursor.set(x);
      lit.set(near?.drawn.line.runId);
      pointed.set({ x, clientX, clientY, readings, near: near?.drawn.line.id });
    },
    onLeave: () => {
      cursor.set(undefined);
      lit.set(undefined);
      pointed.set(undefined);
    },
    onPin: () => setPinned((now) => (now === undefined ? pointed.get() : undefined)),
    onDrag: setDrag,
    onZoomX: props.onZoom,
    onZoomY: (range) => heat === undefined && props.onZoomY(range),
    onMove: (range) => {
      pointed.set(undefined);
      moving.set(range);
    },
    onRest: () => {
      const range = moving.get();
      if (range !== undefined) props.onZoom(range);
    },
    onReset: () => {
      moving.set(undefined);
      setPinned(undefined);
      props.onReset();
    },
  });

  return (
    <div className={styles.chart} ref={box} style={{ height }}>
      <div
        ref={plot}
        className={styles.plot}
        role="img"
        tabIndex={0}
        aria-label={sentenceOf(title, lines, xName ?? xKind)}
        aria-describedby={tooltipId}
        {...pointer}
      >
        <canvas ref={grid} className={styles.canvas} />
        {/* While lines are shifted they must not leave the plot. */}
        <div className={styles.canvas} style={clipOf(frame)}>
          <canvas ref={base} className={styles.canvas} />
        </div>
        <canvas ref={over} className={styles.canvas} />
      </div>
      {picture?.clipped === true && <span className={styles.note}>outliers clipped</span>}
      <ChartTooltip
        id={tooltipId}
        pointed={pointed}
        pinned={pinned}
        xKind={xKind}
        xName={xName}
        smoothed={smoothing.kind !== "none"}
        baseline={props.baseline}
        lit={lit}
        onUnpin={() => setPinned(undefined)}
      />
    </div>
  );
}

function clipOf(frame: Frame | undefined) {
  if (frame === undefined) return {};
  return { clipPath: `inset(0 ${Math.max(0, frame.width - frame.right - 2)}px 0 ${frame.left - 2}px)` };
}
