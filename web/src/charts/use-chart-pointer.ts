import { useRef, type KeyboardEvent, type PointerEvent } from "react";
import type { Frame } from "./frame.ts";
import type { Overlay } from "./overlay.ts";

interface PointerActions {
  frame: Frame | undefined;
  /** The pointer is over the plot, or a key moved the crosshair. */
  onPoint(at: { x: number; y: number; clientX: number; clientY: number }): void;
  onLeave(): void;
  onPin(): void;
  onDrag(drag: Overlay["drag"]): void;
  onZoomX(range: readonly [number, number]): void;
  onZoomY(range: readonly [number, number]): void;
  onReset(): void;
}

/** Less is a click. */
const DRAG_MIN_PX = 4;
const KEY_STEP_PX = 6;
const KEY_ZOOM = 0.25;

/**
 * Pointer and keys of a chart: move for the crosshair, click or Enter to pin, drag for a part of x, with Shift for a
 * part of y, double click or 0 for everything; arrows move the crosshair, + and - zoom around it.
 */
export function useChartPointer(actions: PointerActions) {
  const down = useRef<{ x: number; y: number; alongY: boolean; moved: boolean }>(undefined);
  const key = useRef<number>(undefined);
  const { frame } = actions;

  function placeOf(event: PointerEvent<HTMLElement>) {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  function onPointerDown(event: PointerEvent<HTMLElement>): void {
    if (event.button !== 0 || frame === undefined) return;
    const at = placeOf(event);
    down.current = { ...at, alongY: event.shiftKey, moved: false };
    event.currentTarget.setPointerCapture(event.pointerId);
  }

  function onPointerMove(event: PointerEvent<HTMLElement>): void {
    if (frame === undefined) return;
    const at = placeOf(event);
    const start = down.current;
    if (start !== undefined) {
      const far = start.alongY ? Math.abs(at.y - start.y) : Math.abs(at.x - start.x);
      start.moved ||= far >= DRAG_MIN_PX;
      if (start.moved) actions.onDrag(dragOf(frame, start, at));
    }
    const x = clampTo(at.x, frame.left, frame.right);
    key.current = x;
    actions.onPoint({ x, y: at.y, clientX: event.clientX, clientY: event.clientY });
  }

  function onPointerUp(event: PointerEvent<HTMLElement>): void {
    const start = down.current;
    down.current = undefined;
    if (start === undefined || frame === undefined) return;
    actions.onDrag(undefined);
    if (!start.moved) return actions.onPin();
    const { fromX, toX, fromY, toY } = dragOf(frame, start, placeOf(event));
    if (start.alongY) actions.onZoomY(rising(frame.y.toValue(fromY), frame.y.toValue(toY)));
    else actions.onZoomX(rising(frame.x.toValue(fromX), frame.x.toValue(toX)));
  }

  function onPointerCancel(): void {
    down.current = undefined;
    actions.onDrag(undefined);
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (frame === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const at = key.current ?? (frame.left + frame.right) / 2;
    const step = event.shiftKey ? 5 * KEY_STEP_PX : KEY_STEP_PX;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const x = clampTo(at + (event.key === "ArrowLeft" ? -step : step), frame.left, frame.right);
      key.current = x;
      const box = event.currentTarget.getBoundingClientRect();
      const y = (frame.top + frame.bottom) / 2;
      actions.onPoint({ x, y, clientX: box.left + x, clientY: box.top + y });
    } else if (event.key === "Enter" || event.key === " ") actions.onPin();
    else if (event.key === "Escape") actions.onLeave();
    else if (event.key === "0") actions.onReset();
    else if (event.key === "+" || event.key === "=" || event.key === "-") {
      const part = event.key === "-" ? 1 / (1 - 2 * KEY_ZOOM) : 1 - 2 * KEY_ZOOM;
      const left = at - (at - frame.left) * part;
      const right = at + (frame.right - at) * part;
      actions.onZoomX([frame.x.toValue(left), frame.x.toValue(right)]);
    } else return;
    event.preventDefault();
    // Pages have arrows of their own.
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

function dragOf(
  { left, right, top, bottom }: Frame,
  start: { x: number; y: number; alongY: boolean },
  at: { x: number; y: number },
) {
  return start.alongY
    ? { fromX: left, toX: right, fromY: clampTo(start.y, top, bottom), toY: clampTo(at.y, top, bottom) }
    : { fromX: clampTo(start.x, left, right), toX: clampTo(at.x, left, right), fromY: top, toY: bottom };
}

function clampTo(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function rising(a: number, b: number): readonly [number, number] {
  return a <= b ? [a, b] : [b, a];
}
