import { useEffect, useRef, type KeyboardEvent, type PointerEvent, type RefObject } from "react";
import type { Frame } from "./paint/frame.ts";
import { panned, zoomed, type XRange } from "./motion.ts";
import type { Overlay } from "./paint/overlay.ts";
import type { Scale } from "#lang/ticks/scale.ts";

export interface PointerActions {
  /** The element with the listeners. */
  plot: RefObject<HTMLElement | null>;
  frameNow(): Frame | undefined;
  /** From the first to the last point. */
  extent: XRange | undefined;
  /** Whether there are points to the left or to the right. */
  isZoomed: boolean;
  /** The pointer is over the plot, or a key moved the crosshair. */
  onPoint(at: { x: number; y: number; clientX: number; clientY: number }): void;
  onLeave(): void;
  onPin(): void;
  onDrag(drag: Overlay["drag"]): void;
  onZoomX(range: XRange): void;
  onZoomY(range: XRange): void;
  /** Moves everything along x; undefined resets it. */
  onMove(range: XRange | undefined): void;
  /** The move has ended. */
  onRest(): void;
  onReset(): void;
}

interface Down {
  x: number;
  y: number;
  shift: boolean;
  scale: Scale;
  /** The kind of the drag; a click until it is known. */
  way?: "x" | "y" | "pan" | undefined;
}

/** Less is a click. */
const DRAG_MIN_PX = 4;
const KEY_STEP_PX = 6;
const KEY_ZOOM = 0.25;
const KEY_PAN = 0.25;
const WHEEL_ZOOM = 0.002;
const WHEEL_LINE_PX = 32;
/** A wheel has no end event. */
const WHEEL_REST_MS = 180;

/**
 * Pointer and keys of a chart: move for the crosshair, click or Enter to pin, drag for a part of x; with Shift drag along
 * x to move and along y for a part of y; wheel with Ctrl to zoom, with Shift or sideways to move; double click or 0 for
 * everything; arrows move the crosshair, + and - zoom around it, [ and ] move.
 */
export function useChartPointer(actions: PointerActions) {
  const down = useRef<Down>(undefined);
  const key = useRef<number>(undefined);
  const latest = useRef(actions);
  latest.current = actions;

  useWheel(actions.plot, latest);

  function onPointerDown(event: PointerEvent<HTMLElement>): void {
    const frame = actions.frameNow();
    if (event.button !== 0 || frame === undefined) return;
    down.current = { ...placeOf(event), shift: event.shiftKey, scale: frame.x };
    event.currentTarget.setPointerCapture(event.pointerId);
  }

  function onPointerMove(event: PointerEvent<HTMLElement>): void {
    const frame = actions.frameNow();
    if (frame === undefined) return;
    const at = placeOf(event);
    const start = down.current;
    if (start !== undefined) {
      const way = (start.way ??= wayOf(start, at));
      if (way === "pan") return actions.onMove(pannedBy(start, at.x, actions.extent));
      if (way !== undefined) actions.onDrag(dragOf(frame, start, at));
    }
    const x = clampTo(at.x, frame.left, frame.right);
    key.current = x;
    actions.onPoint({ x, y: at.y, clientX: event.clientX, clientY: event.clientY });
  }

  function onPointerUp(event: PointerEvent<HTMLElement>): void {
    const frame = actions.frameNow();
    const start = down.current;
    down.current = undefined;
    if (start === undefined || frame === undefined) return;
    actions.onDrag(undefined);
    if (start.way === undefined) return actions.onPin();
    if (start.way === "pan") return actions.onRest();
    zoomTo(frame, start.way, dragOf(frame, start, placeOf(event)), actions);
  }

  function onPointerCancel(): void {
    if (down.current?.way === "pan") actions.onMove(undefined);
    down.current = undefined;
    actions.onDrag(undefined);
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    const frame = actions.frameNow();
    if (frame === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const at = key.current ?? (frame.left + frame.right) / 2;
    const step = event.shiftKey ? 5 * KEY_STEP_PX : KEY_STEP_PX;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const x = clampTo(at + (event.key === "ArrowLeft" ? -step : step), frame.left, frame.right);
      key.current = x;
      actions.onPoint(middleAt(x, frame, event.currentTarget));
    } else if (event.key === "Enter" || event.key === " ") actions.onPin();
    else if (event.key === "Escape") actions.onLeave();
    else if (event.key === "0") actions.onReset();
    else {
      const range = keyRange(event.key, frame, at, actions.extent);
      if (range === undefined) return;
      actions.onZoomX(range);
    }
    event.preventDefault();
    // Pages have their own arrow keys.
    event.stopPropagation();
  }

  return {
    onPointerDown,
    onPointerMove,
    onPointerUp,
    onPointerCancel,
    onPointerLeave: () => actions.onLeave(),
    onBlur: () => actions.onLeave(),
    onDoubleClick: () => actions.onReset(),
    onKeyDown,
  };
}

function placeOf(event: PointerEvent<HTMLElement>) {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function zoomTo(
  frame: Frame,
  way: "x" | "y",
  { fromX, toX, fromY, toY }: ReturnType<typeof dragOf>,
  actions: PointerActions,
): void {
  if (way === "y") actions.onZoomY(rising(frame.y.toValue(fromY), frame.y.toValue(toY)));
  else actions.onZoomX(rising(frame.x.toValue(fromX), frame.x.toValue(toX)));
}

/** As if the pointer were at this x, halfway up. */
function middleAt(x: number, frame: Frame, element: HTMLElement) {
  const { left, top } = element.getBoundingClientRect();
  const y = (frame.top + frame.bottom) / 2;
  return { x, y, clientX: left + x, clientY: top + y };
}

/** Moves with the wheel, and detects when it stops. */
function useWheel(plot: PointerActions["plot"], latest: { current: PointerActions }): void {
  useEffect(() => {
    const element = plot.current;
    if (element === null) return undefined;
    let rest: ReturnType<typeof setTimeout> | undefined;
    const onWheel = (event: WheelEvent): void => {
      const range = wheelRange(event, element, latest.current);
      if (range === undefined) return;
      event.preventDefault();
      latest.current.onMove(range);
      clearTimeout(rest);
      rest = setTimeout(() => {
        rest = undefined;
        latest.current.onRest();
      }, WHEEL_REST_MS);
    };
    // React's listeners are passive and cannot prevent scrolling.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      element.removeEventListener("wheel", onWheel);
      clearTimeout(rest);
      if (rest !== undefined) latest.current.onRest();
    };
  }, [plot]);
}

/** The new range for a key; undefined for other keys. */
function keyRange(pressed: string, frame: Frame, at: number, extent: XRange | undefined): XRange | undefined {
  const whole = extent ?? [frame.x.from, frame.x.to];
  switch (pressed) {
    case "[":
    case "]": {
      const byPx = (pressed === "[" ? -KEY_PAN : KEY_PAN) * (frame.right - frame.left);
      return panned(frame.x, byPx, whole);
    }
    case "+":
    case "=":
    case "-": {
      const factor = pressed === "-" ? 1 / (1 - 2 * KEY_ZOOM) : 1 - 2 * KEY_ZOOM;
      return zoomed(frame.x, frame.x.toValue(at), factor, whole);
    }
    default:
      return undefined;
  }
}

/** The new range for the wheel; undefined when the page scrolls. */
function wheelRange(event: WheelEvent, element: HTMLElement, actions: PointerActions): XRange | undefined {
  const frame = actions.frameNow();
  if (frame === undefined) return undefined;
  const extent = actions.extent ?? [frame.x.from, frame.x.to];
  const unit = event.deltaMode === 0 ? 1 : WHEEL_LINE_PX;
  if (event.ctrlKey || event.metaKey) {
    const pixel = event.clientX - element.getBoundingClientRect().left;
    const around = frame.x.toValue(clampTo(pixel, frame.left, frame.right));
    return zoomed(frame.x, around, Math.exp(event.deltaY * unit * WHEEL_ZOOM), extent);
  }
  // Some browsers turn a wheel with Shift sideways themselves.
  const alongX = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
  const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!isSideways || !actions.isZoomed) return undefined;
  return panned(frame.x, alongX * unit, extent);
}

function wayOf(start: Down, at: { x: number; y: number }): Down["way"] {
  const [alongX, alongY] = [Math.abs(at.x - start.x), Math.abs(at.y - start.y)];
  if (!start.shift) return alongX >= DRAG_MIN_PX ? "x" : undefined;
  if (Math.max(alongX, alongY) < DRAG_MIN_PX) return undefined;
  return alongY > alongX ? "y" : "pan";
}

/** By the distance since the pointer went down, so that the content follows it. */
function pannedBy({ scale, x }: Down, atX: number, extent: XRange | undefined): XRange {
  return panned(scale, x - atX, extent ?? [scale.from, scale.to]);
}

function dragOf({ left, right, top, bottom }: Frame, start: Down, at: { x: number; y: number }) {
  return start.way === "y"
    ? { fromX: left, toX: right, fromY: clampTo(start.y, top, bottom), toY: clampTo(at.y, top, bottom) }
    : { fromX: clampTo(start.x, left, right), toX: clampTo(at.x, left, right), fromY: top, toY: bottom };
}

function clampTo(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function rising(a: number, b: number): XRange {
  return a <= b ? [a, b] : [b, a];
}
