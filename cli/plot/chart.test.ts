import { describe, expect, it } from "vitest";
import { widthOf } from "../output/text.ts";
import { renderChart, type Chart } from "./chart.ts";
import { pointMarks } from "#sdk/series.ts";
import type { Line } from "./line.ts";
import { parsePlace } from "./plot-request.ts";
import { chartStyle, hasUnicode } from "./style.ts";

const plain = chartStyle({ unicode: true, colour: false });
const size = { columns: 80, rows: 10 };

function lineOf(name: string, valueAt: (x: number) => number, count = 100): Line {
  const x = Float64Array.from(Array(count).keys());
  return { name, marks: pointMarks(x, x.map(valueAt)), form: `exact, ${count} points`, missing: "" };
}

function chartOf(...lines: Line[]): Chart {
  return { title: "loss", remark: "", lines, axis: "step", log: false };
}

describe("renderChart", () => {
  it("T42 describes each line in full, at any width", () => {
    const long = lineOf("a name that is much longer than there is room for beside the rest", Math.sqrt);
    for (const columns of [40, 60, 80, 200]) {
      const text = renderChart(
        chartOf({ ...long, form: "band of 100,000 points" }),
        { columns, rows: 5 },
        plain,
      );
      expect(text.at(-1)).toContain("band of 100,000 points");
      if (columns >= 60) for (const line of text) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    }
  });

  it("T43 distinguishes lines by markers without colours, and by colour otherwise", () => {
    const chart = chartOf(
      lineOf("up", (x) => x),
      lineOf("down", (x) => 100 - x),
    );
    const marked = renderChart(chart, size, plain).join("\n");
    expect(marked).toContain(" ● up");
    expect(marked).toContain(" ▲ down");
    expect(marked.match(/●/g)!.length).toBeGreaterThan(3);
    expect(marked.match(/▲/g)!.length).toBeGreaterThan(3);
    const coloured = renderChart(
      chart,
      size,
      chartStyle({ unicode: true, colour: true, colourDepth: 8 }),
    ).join("\n");
    expect(coloured).not.toMatch(/[●▲]/);
    expect(coloured).toContain("\u001b[38;5;39m━");
    expect(coloured).toContain("\u001b[38;5;208m━");
  });

  it("T43 uses only ASCII where the locale has no UTF-8", () => {
    const style = chartStyle({ unicode: false, colour: false });
    const text = renderChart(
      chartOf(
        lineOf("up", (x) => x),
        lineOf("down", (x) => 100 - x),
      ),
      size,
      style,
    ).join("\n");
    expect(text).toMatch(/^[\n -~]*$/);
    expect(text).toContain("* up");
    expect(text).toContain("+ down");
  });

  it.each([
    [{ LANG: "en_US.UTF-8" }, true],
    [{ LANG: "C.utf8" }, true],
    [{}, true],
    [{ LANG: "C" }, false],
    [{ LC_ALL: "POSIX", LANG: "en_US.UTF-8" }, false],
    [{ LC_CTYPE: "de_DE.ISO-8859-1" }, false],
    [{ TERM: "linux", LANG: "C.UTF-8" }, false],
  ])("T43 detects UTF-8 from %j", (env, unicode) => {
    expect(hasUnicode(env)).toBe(unicode);
  });

  it("T44 draws a band around the mean of a group", () => {
    const line = lineOf("group", () => 5);
    const band = { low: line.marks.x.map(() => 0), high: line.marks.x.map(() => 10) };
    const dots = (chart: Chart) =>
      renderChart(chart, size, plain)
        .join("")
        .match(/[\u2801-\u28ff]/g)!.length;
    expect(dots(chartOf({ ...line, band }))).toBeGreaterThan(5 * dots(chartOf(line)));
  });

  it("T45 shows a text where there is no number", () => {
    expect(renderChart(chartOf(lineOf("nothing", () => NaN)), size, plain).join("\n")).toContain(
      "no number to draw",
    );
    expect(renderChart(chartOf(), size, plain).join("\n")).toContain("no number to draw");
    const below = renderChart({ ...chartOf(lineOf("below", () => -1)), log: true }, size, plain).join("\n");
    expect(below).toContain("no number to draw");
  });

  it("T41 has the axis of a share from 0 to 1", () => {
    const chart = { ...chartOf(lineOf("accuracy", () => 0.5)), atLeast: { min: 0, max: 1 } };
    const text = renderChart(chart, size, plain);
    expect(text[1]).toMatch(/^1\.0 ┤/);
    expect(text[size.rows]).toMatch(/^0\.0 ┤/);
  });
});

describe("parsePlace", () => {
  const now = Date.UTC(2026, 10, 15, 12);
  it.each([
    ["1000", "step", 1000n],
    ["-5", "step", -5n],
    ["90s", "elapsed", 90_000_000n],
    ["2h", "elapsed", 7_200_000_000n],
    ["now-1h", "time", BigInt(now - 3_600_000) * 1000n],
    ["2026-11-15T11:00:00Z", "time", BigInt(now - 3_600_000) * 1000n],
  ] as const)("T42 reads %s as a %s", (text, axis, place) => {
    expect(parsePlace(text, axis, now)).toBe(place);
  });

  it.each([
    ["1e3", "step"],
    ["yesterday", "time"],
    ["100", "elapsed"],
  ] as const)("T42 refuses %s as a %s", (text, axis) => {
    expect(() => parsePlace(text, axis, now)).toThrow(`cannot use "${text}"`);
  });
});
