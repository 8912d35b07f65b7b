import type { Ink } from "./pen.ts";

/** Cleared and scaled to the pixels of the screen; undefined while there is no room. */
export function penOn(
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
