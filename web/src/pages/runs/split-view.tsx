import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import styles from "./runs-page.module.css";
import { SPLIT_MAX, SPLIT_MIN } from "./search.ts";

interface SplitViewProps {
  /** The width of the left side in percent; at 100 the right one is hidden. */
  percent: number;
  onPercent: (percent: number) => void;
  left: ReactNode;
  right: ReactNode;
}

const KEY_STEP = 4;
/** A right side that is narrower than this is hidden. */
const RIGHT_MIN = 15;

/** Two sides with a resizable divider. */
export function SplitView({ percent, onPercent, left, right }: SplitViewProps) {
  const whole = useRef<HTMLDivElement>(null);
  const [pulled, setPulled] = useState<number>();
  const now = pulled ?? percent;
  const clamp = (value: number) => Math.round(Math.min(SPLIT_MAX - RIGHT_MIN, Math.max(SPLIT_MIN, value)));
  if (percent >= SPLIT_MAX) return <div className={styles.split}>{left}</div>;

  const start = (event: PointerEvent<HTMLDivElement>) => {
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    const { left: from, width } = whole.current!.getBoundingClientRect();
    let last = percent;
    const onMove = (moved: globalThis.PointerEvent) =>
      setPulled((last = clamp(((moved.clientX - from) / width) * 100)));
    handle.addEventListener("pointermove", onMove);
    handle.addEventListener(
      "lostpointercapture",
      () => {
        handle.removeEventListener("pointermove", onMove);
        setPulled(undefined);
        onPercent(last);
      },
      { once: true },
    );
    event.preventDefault();
  };
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === "ArrowLeft") onPercent(clamp(percent - KEY_STEP));
    if (key === "ArrowRight") onPercent(clamp(percent + KEY_STEP));
  };
  return (
    <div
      className={styles.split}
      ref={whole}
      style={{ gridTemplateColumns: `minmax(0, ${now}fr) 5px minmax(0, ${100 - now}fr)` }}
    >
      {left}
      <div
        role="separator"
        aria-label="Width of the table"
        aria-orientation="vertical"
        aria-valuenow={now}
        aria-valuemin={SPLIT_MIN}
        aria-valuemax={SPLIT_MAX - RIGHT_MIN}
        tabIndex={0}
        className={styles.edge}
        onPointerDown={start}
        onKeyDown={onKeyDown}
      />
      {right}
    </div>
  );
}
