import { useRef, type KeyboardEvent, type PointerEvent } from "react";
import { Button } from "../../../widgets/button.tsx";
import { GripVertical } from "../../../widgets/icons/icons.ts";
import { Name } from "../../../widgets/name.tsx";
import { visibleText } from "../../../prepare/visible-text.ts";
import { AxisMenu, type AxisMenuProps } from "../axis-menu.tsx";
import { brushBetween, partsOf } from "../columns/axis.ts";
import type { Brush } from "../columns/brush.ts";
import styles from "../picture.module.css";
import { placeAt, yOf, type ParallelLayout } from "./parallel-layout.ts";

interface AxisStripProps extends Omit<AxisMenuProps, "trigger" | "onBrush" | "onMove"> {
  layout: ParallelLayout;
  x: number;
  width: number;
  onBrush: (brush: Brush | undefined, isDraft: boolean) => void;
  onMove: (step: -1 | 1) => void;
  /** Dropped at this height of the picture's width. */
  onDrop: (x: number) => void;
}

/** Less is a click. */
const DRAG_MIN_PX = 4;
const STRIP_PX = 22;

/** The name of an axis with its menu, and the strip along it where a part is chosen by dragging. */
export function AxisStrip(props: AxisStripProps) {
  const { axis, brush, layout, x, width, onBrush, onMove, onDrop } = props;
  const { column } = axis;
  const name = visibleText(column.label);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.shiftKey || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
    event.preventDefault();
    event.stopPropagation();
    onMove(event.key === "ArrowLeft" ? -1 : 1);
  };
  return (
    <div className={styles.axis} style={{ left: x - width / 2, width }}>
      <div className={styles.axisHead}>
        <Grip x={x} onDrop={onDrop} />
        <AxisMenu
          {...props}
          onBrush={(next) => onBrush(next, false)}
          trigger={
            <Button
              quiet
              className={brush === undefined ? styles.axisName : `${styles.axisName} ${styles.brushed}`}
              aria-label={`Axis ${name}`}
              onKeyDown={onKeyDown}
            >
              <Name text={column.label} />
            </Button>
          }
        />
      </div>
      <BrushArea
        axis={axis}
        brush={brush}
        layout={layout}
        left={width / 2 - STRIP_PX / 2}
        onBrush={onBrush}
      />
    </div>
  );
}

/** To drag an axis elsewhere; keys do the same on its name. */
function Grip({ x, onDrop }: { x: number; onDrop: (x: number) => void }) {
  const start = useRef<number>(undefined);
  return (
    <span
      className={styles.grip}
      title="Drag to move the axis"
      onPointerDown={(event) => {
        start.current = event.clientX;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (start.current === undefined) return;
        const strip = event.currentTarget.closest<HTMLElement>(`.${styles.axis}`);
        if (strip) strip.style.transform = `translateX(${event.clientX - start.current}px)`;
      }}
      onPointerUp={(event) => {
        const from = start.current;
        start.current = undefined;
        const strip = event.currentTarget.closest<HTMLElement>(`.${styles.axis}`);
        if (strip) strip.style.transform = "";
        if (from !== undefined && Math.abs(event.clientX - from) >= DRAG_MIN_PX)
          onDrop(x + event.clientX - from);
      }}
      onPointerCancel={(event) => {
        start.current = undefined;
        const strip = event.currentTarget.closest<HTMLElement>(`.${styles.axis}`);
        if (strip) strip.style.transform = "";
      }}
    >
      <GripVertical size={12} aria-hidden />
    </span>
  );
}

interface Drag {
  fromY: number;
  /** The part that is moved; undefined for a new one. */
  part: readonly [number, number] | undefined;
  moved: boolean;
}

function BrushArea({
  axis,
  brush,
  layout,
  left,
  onBrush,
}: {
  left: number;
} & Pick<AxisStripProps, "axis" | "brush" | "layout" | "onBrush">) {
  const drag = useRef<Drag>(undefined);
  const parts = brush === undefined ? [] : partsOf(axis, brush);
  const heightOf = (event: PointerEvent<HTMLElement>) =>
    event.clientY - event.currentTarget.getBoundingClientRect().top;
  const drawn = (event: PointerEvent<HTMLElement>, { fromY, part }: Drag): Brush | undefined => {
    const y = heightOf(event);
    if (part !== undefined) {
      const shift = placeAt(layout, y) - placeAt(layout, fromY);
      const bounded = Math.max(-part[0], Math.min(1 - part[1], shift));
      return brushBetween(axis, part[0] + bounded, part[1] + bounded, brush?.none === true);
    }
    const none = axis.hasNone && Math.max(fromY, y) >= layout.noneY - 8;
    return brushBetween(axis, placeAt(layout, fromY), placeAt(layout, y), none);
  };
  return (
    <div
      className={styles.brushArea}
      style={{ left, width: STRIP_PX, height: layout.height }}
      data-axis={axis.column.text}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        const fromY = heightOf(event);
        const place = placeAt(layout, fromY);
        const part =
          axis.scale === "category" ? undefined : parts.find(([low, high]) => place >= low && place <= high);
        drag.current = { fromY, part, moved: false };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const now = drag.current;
        if (now === undefined) return;
        now.moved ||= Math.abs(heightOf(event) - now.fromY) >= DRAG_MIN_PX;
        if (now.moved) onBrush(drawn(event, now), true);
      }}
      onPointerUp={(event) => {
        const now = drag.current;
        drag.current = undefined;
        if (now !== undefined) onBrush(now.moved ? drawn(event, now) : undefined, false);
      }}
      onPointerCancel={() => {
        drag.current = undefined;
        onBrush(brush, false);
      }}
    >
      {parts.map(([low, high]) => {
        const top = yOf(layout, high);
        return (
          <div
            key={`${low} ${high}`}
            className={styles.brush}
            style={{ top: top - 2, height: Math.max(4, yOf(layout, low) - top + 4) }}
          />
        );
      })}
      {brush?.none && <div className={styles.brush} style={{ top: layout.noneY - 8, height: 16 }} />}
    </div>
  );
}
