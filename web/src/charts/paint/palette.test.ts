import { describe, expect, it } from "vitest";
import { colourAt, dashAt, heatColour, PALETTE_SIZE, placeOf, rampColour } from "./palette.ts";

/** Brightness as WCAG counts it. */
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function hexOf(rgb: string): string {
  return `#${rgb
    .match(/\d+/g)
    .map((part) => Number(part).toString(16).padStart(2, "0"))
    .join("")}`;
}

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].toSorted((p, q) => p - q);
  return (high! + 0.05) / (low! + 0.05);
}

describe("colours of runs", () => {
  it("Z30 every line stands out from both backgrounds, by 3 to 1 at least", () => {
    for (let i = 0; i < PALETTE_SIZE; i++) {
      expect(contrast(colourAt(i, false), "#ffffff"), colourAt(i, false)).toBeGreaterThanOrEqual(3);
      expect(contrast(colourAt(i, true), "#161b20"), colourAt(i, true)).toBeGreaterThanOrEqual(3);
    }
  });

  it("Z30 heat colours contrast increasingly with the background, evenly enough to be read", () => {
    for (const [dark, background] of [
      [false, "#ffffff"],
      [true, "#161b20"],
    ] as const) {
      const away = [0, 0.25, 0.5, 0.75, 1].map((share) =>
        contrast(hexOf(heatColour(share, dark)), background),
      );
      for (let i = 1; i < away.length; i++) expect(away[i]).toBeGreaterThan(away[i - 1]);
      expect(heatColour(-3, dark)).toBe(heatColour(0, dark));
      expect(heatColour(9, dark)).toBe(heatColour(1, dark));
    }
  });

  it("Z30 a ramp of lines stands out from both backgrounds at every step, and its lightness goes one way", () => {
    for (const [dark, background] of [
      [false, "#ffffff"],
      [true, "#161b20"],
    ] as const) {
      let last = 0;
      for (let share = 0; share <= 1; share += 0.05) {
        const away = contrast(hexOf(rampColour(share, dark)), background);
        expect(away, rampColour(share, dark)).toBeGreaterThanOrEqual(3);
        expect(away).toBeGreaterThan(last);
        last = away;
      }
    }
  });

  it("Z30 forty runs have forty pairs of colour and dash; a run without a place always has the same", () => {
    for (const dark of [false, true]) {
      const pairs = Array.from({ length: 40 }, (_, i) => `${colourAt(i, dark)} ${dashAt(i).join()}`);
      expect(new Set(pairs).size).toBe(40);
    }
    expect(placeOf("01a1")).toBe(placeOf("01a1"));
  });
});
