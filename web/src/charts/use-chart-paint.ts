import { useCallback, useEffect, useLayoutEffect, useRef, type RefObject } from "react";
import { inkOf, penOn } from "./paint/canvas.ts";
import { movedTo, type Frame, type XKind } from "./paint/frame.ts";
import { paintHeat, type Heat } from "./paint/heat.ts";
import { paintHeatLegend } from "./paint/heat-legend.ts";
import { isWorn, shiftOf, type XRange } from "./motion.ts";
import { isHighlighted, paintOverlay, type Overlay } from "./paint/overlay.ts";
import { paintFrame, paintLines, type Drawn } from "./paint/paint.ts";
import { PaintQueue } from "./paint/paint-queue.ts";
import styles from "./series-chart.module.css";
import type { Watched } from "./watched.ts";

interface ChartPaint {
  box: RefObject<HTMLDivElement | null>;
  /** From the bottom: grid and labels, lines, and the crosshair. */
  grid: RefObject<HTMLCanvasElement | null>;
  base: RefObject<HTMLCanvasElement | null>;
  over: RefObject<HTMLCanvasElement | null>;
  frame: Frame | undefined;
  heat: Heat | undefined;
  drawn: readonly Drawn[];
  width: number;
  height: number;
  xKind: XKind;
  log: boolean;
  dark: boolean;
  zoom: XRange | undefined;
  /** The range while it is being moved; afterwards it is in `zoom`. */
  moving: Watched<XRange | undefined>;
  cursor: Watched<number | undefined>;
  highlighted: Watched<string | undefined>;
}

/** Charts that are moved together are redrawn in turns. */
const queue = new PaintQueue();

/**
 * Draws a chart when something of it changes. While it is moved along x, the drawn lines are shifted with every frame,
 * and redrawn in turns where they do not reach far enough.
 */
export function useChartPaint(parts: ChartPaint) {
  const { box, grid, base, frame, heat, drawn, width, height, xKind, log, dark, zoom } = parts;
  const { moving } = parts;
  const lastZoom = useRef(zoom);

  /** The current layout. */
  const frameNow = useCallback((): Frame | undefined => {
    const range = moving.get();
    return frame === undefined || range === undefined ? frame : movedTo(frame, xKind, range);
  }, [frame, xKind, moving]);

  useLayoutEffect(() => {
    if (lastZoom.current === zoom) return;
    // The move has ended.
    lastZoom.current = zoom;
    moving.set(undefined);
  }, [zoom, moving]);

  useLayoutEffect(() => {
    const ink = inkOf(box.current!);
    let drawnFor: Frame | undefined;
    const paintGrid = (now: Frame | undefined): void => {
      const pen = penOn(grid.current!, width, height);
      if (pen === undefined || now === undefined) return;
      paintFrame(pen, now, ink);
      if (heat !== undefined) paintHeatLegend(pen, heat, dark, ink);
    };
    const paintBase = (now: Frame | undefined): void => {
      const pen = penOn(base.current!, width, height);
      base.current!.style.transform = "";
      drawnFor = now;
      if (pen === undefined || now === undefined) return;
      if (heat === undefined) paintLines(pen, now, drawn, ink);
      else paintHeat(pen, { ...heat, frame: now }, drawn, { log, dark }, ink);
    };
    const owner = {};
    let asked = 0;
    const follow = (): void => {
      asked = 0;
      const now = frameNow();
      paintGrid(now);
      if (now === frame) {
        queue.remove(owner);
        if (drawnFor !== frame) paintBase(frame);
      } else if (now !== undefined && drawnFor !== undefined) {
        shift(base.current!, drawnFor, now);
        if (isWorn(drawnFor.x, [now.x.from, now.x.to])) queue.add(owner, () => paintBase(frameNow()));
      }
    };
    paintGrid(frameNow());
    paintBase(frameNow());
    const stop = moving.subscribe(() => {
      if (asked === 0) asked = requestAnimationFrame(follow);
    });
    return () => {
      stop();
      cancelAnimationFrame(asked);
      queue.remove(owner);
    };
    // The theme changes the values of the variables, not their names.
  }, [box, grid, base, frame, frameNow, heat, drawn, log, width, height, dark, moving]);

  const setDrag = useOverlay(parts, frameNow);
  return { frameNow, setDrag };
}

/** The overlay that follows the pointer. Returns the function that shows a drag. */
function useOverlay(parts: ChartPaint, frameNow: () => Frame | undefined) {
  const { box, base, over, heat, drawn, width, height, dark, moving, cursor, highlighted } = parts;
  const drag = useRef<Overlay["drag"]>(undefined);
  const repaint = useRef<() => void>(() => {});
  useEffect(() => {
    const ink = inkOf(box.current!);
    let asked = 0;
    const paint = (): void => {
      asked = 0;
      const canvas = over.current;
      if (canvas === null) return;
      const pen = penOn(canvas, width, height);
      const run = highlighted.get();
      base.current!.classList.toggle(styles.back!, heat === undefined && isHighlighted(drawn, run));
      const now = frameNow();
      if (pen === undefined || now === undefined) return;
      const shown = heat === undefined ? run : undefined;
      paintOverlay(pen, now, drawn, { cursor: cursor.get(), highlighted: shown, drag: drag.current }, ink);
    };
    const ask = (): void => {
      if (asked === 0) asked = requestAnimationFrame(paint);
    };
    repaint.current = ask;
    ask();
    const stops = [cursor.subscribe(ask), highlighted.subscribe(ask), moving.subscribe(ask)];
    return () => {
      for (const stop of stops) stop();
      cancelAnimationFrame(asked);
    };
  }, [box, base, over, frameNow, heat, drawn, width, height, dark, cursor, highlighted, moving]);

  return useCallback((next: Overlay["drag"]): void => {
    drag.current = next;
    repaint.current();
  }, []);
}

function shift(canvas: HTMLCanvasElement, drawnFor: Frame, now: Frame): void {
  const { shiftPx, stretch } = shiftOf(drawnFor.x, [now.x.from, now.x.to]);
  canvas.style.transformOrigin = `${drawnFor.left}px 0`;
  canvas.style.transform = `translateX(${shiftPx}px) scaleX(${stretch})`;
}
