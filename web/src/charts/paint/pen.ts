/** The drawing interface of charts: a canvas, or a writer of the same strokes as SVG. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "closePath"
  | "rect"
  | "clip"
  | "save"
  | "restore"
  | "stroke"
  | "fill"
  | "fillRect"
  | "fillText"
  | "setLineDash"
  | "strokeStyle"
  | "fillStyle"
  | "lineWidth"
  | "globalAlpha"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "lineJoin"
>;

/** The colours of everything except runs. */
export interface Ink {
  panel: string;
  grid: string;
  label: string;
  text: string;
  bad: string;
  font: string;
}
