import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { drawnOf, pictureOf, type PictureOptions } from "./chart-picture.ts";
import { ChartTooltip, type Pointed } from "./chart-tooltip.tsx";
import { heatOf, paintHeat, readingOfRow } from "./heat.ts";
import { paintHeatLegend } from "./heat-legend.ts";
import { nearestReading, readingsAt, type Order } from "./hover.ts";
import type { Line } from "./line.ts";
import { isLit, paintOverlay, type Overlay } from "./overlay.ts";
import { paintFrame, paintLines } from "./paint.ts";
import type { Ink } from "./pen.ts";
import styles from "./series-chart.module.css";
import { sentenceOf } from "./summary.ts";
import { useChartPointer } from "./use-chart-pointer.ts";
import { Watched } from "./watched.ts";

export interface SeriesChartProps extends Omit<PictureOptions, "zoomY"> {
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
  /** Shared by everything on a page: the run that is lit. */
  lit: Watched<string | undefined>;
  /** Values in the tooltip are held against the line of this run. */
  baseline?: string | undefined;
  /** A row of colours per line instead of its height. */
  heat?: boolean;
  /** Undefined for everything. */
  onZoom(range: readonly [number, number] | undefined): void;
  /** Where `width` is told, for reads at the right resolution. */
  onWidth?(width: number): void;
}

const REACH_PX = 28;

/** Lines on a canvas, over one with the grid, which stays when lines step back, and under one for what follows the pointer. */
export function SeriesChart(props: SeriesChartProps) {
  const { title, lines, height, dark, order, cursor, lit, xKind, xName, log, clip, smoothing, zoom, fixedY } =
    props;
  const box = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLCanvasElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [zoomY, setZoomY] = useState<readonly [number, number]>();
  const [pinned, setPinned] = useState<Pointed>();
  const pointed = useMemo(() => new Watched<Pointed | undefined>(undefined), []);
  const drag = useRef<Overlay["drag"]>(undefined);
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
  const heat = useMemo(
    () => (isHeat ? heatOf(lines, width, height, { xKind, log, clip, zoom }) : undefined),
    [isHeat, lines, width, height, xKind, log, clip, zoom],
  );
  const frame = heat?.frame ?? picture?.frame;

  useLayoutEffect(() => {
    const gridPen = penOn(grid.current!, width, height);
    const pen = penOn(base.current!, width, height);
    if (gridPen === undefined || pen === undefined || frame === undefined) return;
    const ink = inkOf(box.current!);
    paintFrame(gridPen, frame, ink);
    if (heat === undefined) paintLines(pen, frame, drawn, ink);
    else {
      paintHeatLegend(gridPen, heat, dark, ink);
      paintHeat(pen, heat, drawn, { log, dark }, ink);
    }
    // The theme changes what the variables say, not what they are called.
  }, [frame, heat, drawn, log, width, height, dark]);

  const repaint = useRef<() => void>(() => {});
  useEffect(() => {
    let asked = 0;
    const paint = (): void => {
      asked = 0;
      const canvas = over.current;
      if (canvas === null) return;
      const pen = penOn(canvas, width, height);
      const run = lit.get();
      base.current!.classList.toggle(styles.back!, heat === undefined && isLit(drawn, run));
      if (pen === undefined || frame === undefined) return;
      const shown = heat === undefined ? run : undefined;
      paintOverlay(
        pen,
        frame,
        drawn,
        { cursor: cursor.get(), lit: shown, drag: drag.current },
        inkOf(box.current!),
      );
    };
    const ask = (): void => {
      if (asked === 0) asked = requestAnimationFrame(paint);
    };
    repaint.current = ask;
    ask();
    const stops = [cursor.subscribe(ask), lit.subscribe(ask)];
    return () => {
      for (const stop of stops) stop();
      cancelAnimationFrame(asked);
    };
  }, [frame, heat, drawn, width, height, dark, cursor, lit]);

  const pointer = useChartPointer({
    frame,
    onPoint: ({ x: pixelX, y: pixelY, clientX, clientY }) => {
      if (frame === undefined) return;
      const x = frame.x.toValue(pixelX);
      const slack = Math.abs(frame.x.toValue(pixelX + REACH_PX) - x);
      const readings = readingsAt(drawn, x, slack, order);
      const near =
        heat === undefined
          ? nearestReading(readings, frame, x, pixelY, REACH_PX)
          : readingOfRow(readings, drawn, frame, pixelY);
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
    onDrag: (next) => {
      drag.current = next;
      repaint.current();
    },
    onZoomX: props.onZoom,
    onZoomY: (range) => heat === undefined && setZoomY(range),
    onReset: () => {
      setZoomY(undefined);
      setPinned(undefined);
      props.onZoom(undefined);
    },
  });

  return (
    <div className={styles.chart} ref={box} style={{ height }}>
      <div
        className={styles.plot}
        role="img"
        tabIndex={0}
        aria-label={sentenceOf(title, lines, xName ?? xKind)}
        aria-describedby={tooltipId}
        {...pointer}
      >
        <canvas ref={grid} className={styles.canvas} />
        <canvas ref={base} className={styles.canvas} />
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

/** Cleared and scaled to the pixels of the screen; undefined while there is no room. */
function penOn(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | undefined {
  if (width < 1) return undefined;
  const ratio = globalThis.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const pen = canvas.getContext("2d") ?? undefined;
  pen?.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen?.clearRect(0, 0, width, height);
  return pen;
}

export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return {
    panel: of("--panel"),
    grid: of("--line-soft"),
    label: of("--ink-3"),
    text: of("--ink"),
    bad: of("--bad"),
    font: `11px ${style.fontFamily}`,
  };
}
