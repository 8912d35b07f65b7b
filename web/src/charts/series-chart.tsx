import { useId, useLayoutEffect, useMemo, useRef, useState, type RefObject } from "react";
import { drawnOf, pictureOf, type PictureOptions } from "./chart-picture.ts";
import { ChartTooltip, type Pointed } from "./chart-tooltip.tsx";
import type { Frame } from "./paint/frame.ts";
import { heatOf, readingOfRow } from "./paint/heat.ts";
import { nearestReading, readingsAt, type Order } from "./hover.ts";
import { extentOfX, type Line } from "./lines/line.ts";
import type { XRange } from "./motion.ts";
import styles from "./series-chart.module.css";
import { sentenceOf } from "./lines/summary.ts";
import { useChartPaint } from "./use-chart-paint.ts";
import { useChartPointer, type PointerActions } from "./use-chart-pointer.ts";
import { Watched } from "./watched.ts";

export interface SeriesChartProps extends PictureOptions {
  /** A description of the chart for screen readers. */
  title: string;
  lines: readonly Line[];
  height: number;
  /** Repaints when the colours of the page change. */
  dark: boolean;
  /** Which values come first in the tooltip. */
  order: Order;
  /** Shared by the charts of a page: the position of the crosshair. */
  cursor: Watched<number | undefined>;
  /** Shared by the charts of a page: the range of x while it is being moved. */
  moving: Watched<XRange | undefined>;
  /** Shared by everything on a page: the highlighted run. */
  highlighted: Watched<string | undefined>;
  /** Values in the tooltip are compared with the line of this run. */
  baseline?: string | undefined;
  /** A row of colours per line instead of its height. */
  heat?: boolean;
  /** Of a heat map: the values are counts. */
  counts?: boolean;
  onZoom(range: XRange): void;
  onZoomY(range: XRange): void;
  /** Called to show everything. */
  onReset(): void;
  /** Receives the width, for reads at the right resolution. */
  onWidth?(width: number): void;
}

const REACH_PX = 28;

/** Lines on a canvas, over one with the grid, which stays when lines are dimmed, and under one for the crosshair. */
export function SeriesChart(props: SeriesChartProps) {
  const { title, lines, height, dark, order, cursor, highlighted, xKind, xName, log, zoom } = props;
  const box = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLCanvasElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const width = useMeasured(box, props.onWidth);
  const [pinned, setPinned] = useState<Pointed>();
  const pointed = useMemo(() => new Watched<Pointed | undefined>(undefined), []);
  const plot = useRef<HTMLDivElement>(null);
  const tooltipId = useId();

  const { drawn, picture, heat } = useChartPicture(props, width);
  const frame = heat?.frame ?? picture?.frame;
  const extent = useMemo(() => extentOfX(lines), [lines]);
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
    moving: props.moving,
    cursor,
    highlighted,
  });

  const actions = pointerActions(props, pointed, setPinned, (x, y) =>
    readAt(frameNow(), drawn, heat !== undefined, x, y, order),
  );
  const pointer = useChartPointer({
    plot,
    frameNow,
    extent,
    isZoomed: zoom !== undefined,
    onDrag: setDrag,
    ...actions,
    onZoomY: (range) => heat === undefined && props.onZoomY(range),
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
        smoothed={props.smoothing.kind !== "none"}
        baseline={props.baseline}
        highlighted={highlighted}
        onUnpin={() => setPinned(undefined)}
      />
    </div>
  );
}

/** Applies pointer and keys to the state that charts of a page share. */
function pointerActions(
  { cursor, highlighted, moving, onZoom, onReset }: SeriesChartProps,
  pointed: Watched<Pointed | undefined>,
  setPinned: (change: (now: Pointed | undefined) => Pointed | undefined) => void,
  read: (pixelX: number, pixelY: number) => ReturnType<typeof readAt>,
): Omit<PointerActions, "plot" | "frameNow" | "extent" | "isZoomed" | "onDrag" | "onZoomY"> {
  return {
    onPoint: ({ x: pixelX, y: pixelY, clientX, clientY }) => {
      const found = read(pixelX, pixelY);
      if (found === undefined) return;
      const { x, readings, near } = found;
      cursor.set(x);
      highlighted.set(near?.drawn.line.runId);
      pointed.set({ x, clientX, clientY, readings, near: near?.drawn.line.id });
    },
    onLeave: () => {
      cursor.set(undefined);
      highlighted.set(undefined);
      pointed.set(undefined);
    },
    onPin: () => setPinned((now) => (now === undefined ? pointed.get() : undefined)),
    onZoomX: onZoom,
    onMove: (range) => {
      pointed.set(undefined);
      moving.set(range);
    },
    onRest: () => {
      const range = moving.get();
      if (range !== undefined) onZoom(range);
    },
    onReset: () => {
      moving.set(undefined);
      setPinned(() => undefined);
      onReset();
    },
  };
}

/** The values at a place of the plot, and the nearest one; undefined where nothing is drawn. */
function readAt(
  frame: Frame | undefined,
  drawn: ReturnType<typeof drawnOf>,
  isHeat: boolean,
  pixelX: number,
  pixelY: number,
  order: Order,
) {
  if (frame === undefined) return undefined;
  const x = frame.x.toValue(pixelX);
  const slack = Math.abs(frame.x.toValue(pixelX + REACH_PX) - x);
  const readings = readingsAt(drawn, x, slack, order);
  const near = isHeat
    ? readingOfRow(readings, drawn, frame, pixelY)
    : nearestReading(readings, frame, x, pixelY, REACH_PX);
  return { x, readings, near };
}

function useMeasured(box: RefObject<HTMLElement | null>, onWidth: SeriesChartProps["onWidth"]): number {
  const [width, setWidth] = useState(0);
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
  return width;
}

/** The data to draw at this width: lines, or rows of colours. */
function useChartPicture(props: SeriesChartProps, width: number) {
  const { lines, height, xKind, log, clip, smoothing, zoom, zoomY, fixedY } = props;
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
  return { drawn, picture, heat };
}

function clipOf(frame: Frame | undefined) {
  if (frame === undefined) return {};
  return { clipPath: `inset(0 ${Math.max(0, frame.width - frame.right - 2)}px 0 ${frame.left - 2}px)` };
}
