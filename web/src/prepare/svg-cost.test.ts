import { describe, expect, it } from "vitest";
import { svgCost } from "./svg-cost.ts";

describe("the drawing cost of an SVG", () => {
  it.each([
    ["<svg><g><path/><path></path></g></svg>", 5],
    ['<svg><path id="a"/><use href="#a"/><use xlink:href="&#35;a"/></svg>', 7],
    ['<svg><style>.x { fill: url(#g) }</style><g id="g"><stop/></g><path class="x"/></svg>', 14],
    ['<svg><g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g></svg>', 10],
    ['<svg fill="#ff0000"><rect style="stroke:#00ff00"/></svg>', 3],
  ])("Z99 counts copies: %s", (picture, most) => {
    expect(svgCost(picture)).toBeLessThanOrEqual(most);
    expect(svgCost(picture)).toBeGreaterThan(2);
  });

  it.each([
    ["copies of copies", (i: number) => `<g id="g${i + 1}">${`<use href="#g${i}"/>`.repeat(10)}</g>`],
    [
      "patterns in patterns",
      (i: number) => `<pattern id="g${i + 1}">${`<a style="fill:url(#g${i})"/>`.repeat(10)}</pattern>`,
    ],
    [
      "ids written with references",
      (i: number) => `<g id="g${i + 1}">${`<use href="&#x00023;g${i}"/>`.repeat(10)}</g>`,
    ],
  ])("Z99 refuses %s", (_title, level) => {
    const levels = Array.from({ length: 9 }, (_, i) => level(i)).join("");
    expect(() => svgCost(`<svg><path id="g0"/>${levels}</svg>`)).toThrow("too large");
    expect(() => svgCost(`<svg><path id="g0"/>${level(0)}</svg>`)).not.toThrow();
  });

  it.each([
    ["many shapes", "<path/>".repeat(20_001), "large"],
    ["shapes in shapes", "<g>".repeat(200), "deep"],
    ["entities", '<!DOCTYPE svg [<!ENTITY a "x">]><svg>&a;</svg>', "large"],
    ["pictures in pictures", '<image href="data:image/svg+xml,x"/>', "large"],
    ["styles that hide an address", "<style>a { fill: u\\72l(#a) }</style>", "large"],
  ])("Z99 refuses %s", (_title, picture, refusal) => {
    expect(() => svgCost(picture)).toThrow(`too ${refusal}`);
  });
});
