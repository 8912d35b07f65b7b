import type { Pen } from "./pen.ts";

/** Records the drawing as SVG. Untrusted texts are escaped, so that it cannot run code. */
export class SvgPen implements Pen {
  strokeStyle = "#000";
  fillStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "11px sans-serif";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  lineJoin: CanvasLineJoin = "miter";
  readonly #parts: string[] = [];
  readonly #groups: boolean[] = [];
  #path: string[] = [];
  #dash: readonly number[] = [];
  #clips = 0;

  beginPath(): void {
    this.#path = [];
  }

  moveTo(x: number, y: number): void {
    this.#path.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(x: number, y: number): void {
    this.#path.push(`L${short(x)} ${short(y)}`);
  }

  closePath(): void {
    this.#path.push("Z");
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.#path.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`);
  }

  clip(): void {
    const id = `clip-${++this.#clips}`;
    this.#parts.push(
      `<clipPath id="${id}"><path d="${this.#path.join("")}"/></clipPath><g clip-path="url(#${id})">`,
    );
    this.#groups[this.#groups.length - 1] = true;
  }

  save(): void {
    this.#groups.push(false);
  }

  restore(): void {
    if (this.#groups.pop() === true) this.#parts.push("</g>");
  }

  stroke(): void {
    if (this.#path.length === 0) return;
    const dash = this.#dash.length === 0 ? "" : ` stroke-dasharray="${this.#dash.join(" ")}"`;
    this.#parts.push(
      `<path d="${this.#path.join("")}" fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${this.lineWidth}" stroke-linejoin="${this.lineJoin}"${dash}${this.#alpha()}/>`,
    );
  }

  fill(): void {
    if (this.#path.length === 0) return;
    this.#parts.push(
      `<path d="${this.#path.join("")}" fill="${escapeXml(this.fillStyle)}"${this.#alpha()}/>`,
    );
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.#parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${escapeXml(this.fillStyle)}"${this.#alpha()}/>`,
    );
  }

  fillText(text: string, x: number, y: number): void {
    const anchor = this.textAlign === "right" ? "end" : this.textAlign === "center" ? "middle" : "start";
    const baseline =
      this.textBaseline === "middle" ? "central" : this.textBaseline === "top" ? "hanging" : "auto";
    this.#parts.push(
      `<text x="${short(x)}" y="${short(y)}" style="font:${escapeXml(this.font)}" text-anchor="${anchor}" dominant-baseline="${baseline}" fill="${escapeXml(this.fillStyle)}">${escapeXml(text)}</text>`,
    );
  }

  setLineDash(dash: readonly number[]): void {
    this.#dash = dash;
  }

  /** The whole document. */
  toSvg(width: number, height: number): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${this.#parts.join("")}</svg>\n`;
  }

  #alpha(): string {
    return this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`;
  }
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Also removes characters that XML does not allow. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
