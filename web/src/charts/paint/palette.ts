/**
 * Colours of runs. The first ten can be distinguished by colour-blind users, on both backgrounds; the
 * second ten are the same with a dash, so that twenty lines stay apart. Order: neighbours in a legend differ most.
 */
const LIGHT = [
  "#3b6fd4",
  "#e0792b",
  "#2a9d6f",
  "#c7427a",
  "#8a63d2",
  "#1a9ab8",
  "#b8860b",
  "#d64545",
  "#5f8f1f",
  "#6b7280",
] as const;
const DARK = [
  "#7aa2f7",
  "#f0a05a",
  "#5fd0a0",
  "#f07fae",
  "#b79cf2",
  "#56c8e0",
  "#dcb44a",
  "#f28080",
  "#a2cc5e",
  "#9aa3ad",
] as const;
/** Lengths of dash and gap in pixels; none is a line without gaps. */
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

export const PALETTE_SIZE = LIGHT.length;

export function colourAt(index: number, dark: boolean): string {
  return (dark ? DARK : LIGHT)[index % PALETTE_SIZE]!;
}

export function dashAt(index: number): readonly number[] {
  return DASHES[Math.floor(index / PALETTE_SIZE) % DASHES.length]!;
}

/** The default place of a run in the palette: a hash of its id. */
export function placeOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % (PALETTE_SIZE * DASHES.length);
}

/** From low to high, dark on light and light on dark, so that high values always have contrast. */
const HEAT_LIGHT = ["#edf4f6", "#9fd0d0", "#2f8f9d", "#1d4e7a", "#1c1d4d"] as const;
const HEAT_DARK = ["#1b2430", "#1d4e7a", "#2f8f9d", "#8fd3b6", "#f4f3c2"] as const;

/**
 * For lines and points from worst to best: every step stands out from its background, and lightness alone gives the
 * order, so that it can be read without distinguishing hues.
 */
const RAMP_LIGHT = ["#b8860b", "#5d8a1f", "#1f7a6e", "#2a5a94", "#2e1f66"] as const;
const RAMP_DARK = ["#6a6fc8", "#4b93c9", "#3fb8a8", "#8fd26b", "#f7e463"] as const;

/** `share` is 0 to 1; values outside count as the end. */
export function heatColour(share: number, dark: boolean): string {
  return mix(dark ? HEAT_DARK : HEAT_LIGHT, share);
}

/** The same for lines and points: 1 is the best. */
export function rampColour(share: number, dark: boolean): string {
  return mix(dark ? RAMP_DARK : RAMP_LIGHT, share);
}

function mix(stops: readonly string[], share: number): string {
  const place = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const index = Math.min(stops.length - 2, Math.floor(place));
  const mixed = [1, 3, 5].map((at) => {
    const [from, to] = [stops[index]!, stops[index + 1]!].map((stop) =>
      Number.parseInt(stop.slice(at, at + 2), 16),
    );
    return Math.round(from! + (to! - from!) * (place - index));
  });
  return `rgb(${mixed.join(" ")})`;
}
