import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import { inkOf, penOn } from "../../charts/paint/canvas.ts";
import type { Ink } from "../../charts/paint/pen.ts";
import styles from "./picture.module.css";

export type Paint = (pen: CanvasRenderingContext2D, ink: Ink) => void;

/** A canvas of a given size that is painted when `paint` changes. Several of them are stacked. */
export function CanvasLayer({
  width,
  height,
  paint,
  faded = false,
}: {
  width: number;
  height: number;
  paint: Paint;
  faded?: boolean;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const pen = penOn(canvas.current!, width, height);
    if (pen !== undefined && height >= 1) paint(pen, inkOf(canvas.current!));
  }, [width, height, paint]);
  return (
    <canvas
      ref={canvas}
      className={faded ? `${styles.layer} ${styles.faded}` : styles.layer}
      style={{ width, height }}
      aria-hidden
    />
  );
}

/** The size available for a picture, updated when it changes. */
export function useRoom(box: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [room, setRoom] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = element;
      setRoom((last) => (last.width === width && last.height === height ? last : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return room;
}
