import { describe, expect, it } from "vitest";
import { drawnOf, pictureOf } from "./chart-picture.ts";
import { chartCsv } from "./chart-csv.ts";
import { HEAT_SHEET_HEIGHT, paintHeatSheet, paintSheet, SHEET, sheetHeight } from "./chart-sheet.ts";
import { heatOf, paintHeat, readingOfRow } from "./paint/heat.ts";
import { nearestReading, readingsAt } from "./hover.ts";
import type { Line } from "./lines/line.ts";
import { paintLines } from "./paint/paint.ts";
import { heatColour } from "./paint/palette.ts";
import { badgeOf, factsOf, sentenceOf } from "./lines/summary.ts";
import { SvgPen } from "./paint/svg-pen.ts";
import { rowsAround } from "./tooltip-rows.ts";

function line(id: string, y: readonly number[], more: Partial<Line> = {}): Line {
  return {
    id,
    runId: id,
    name: id,
    colour: "#3b6fd4",
    dash: [],
    x: Float64Array.from(y, (_, i) => i * 10),
    y: Float64Array.from(y),
    exact: true,
    pointCount: y.length,
    unplacedCount: 0,
    ...more,
  };
}

const options = { xKind: "step", log: false, clip: false, smoothing: { kind: "none" } } as const;
const ink = {
  panel: "#fff",
  grid: "#eee",
  label: "#666",
  text: "#111",
  bad: "#b00",
  font: "11px sans-serif",
};

describe("readings at the crosshair", () => {
  const drawn = drawnOf([line("a", [1, 2, 3]), line("b", [9, Number.NaN, 7]), line("c", [4, 5, 6])], {
    kind: "none",
  });

  it("Z28 readings are sorted by value, other than numbers come last, lines that ended have none", () => {
    expect(readingsAt(drawn, 20, 1, "falling").map(({ drawn: { line: each } }) => each.id)).toEqual([
      "b",
      "c",
      "a",
    ]);
    expect(readingsAt(drawn, 20, 1, "rising").map(({ value }) => value)).toEqual([3, 6, 7]);
    expect(readingsAt(drawn, 11, 1, "rising").map(({ value }) => value)).toEqual([2, 5, Number.NaN]);
    expect(readingsAt(drawn, 40, 5, "rising")).toEqual([]);
  });

  it("Z28 the line nearest to the pointer is found between its points, too, and none when it is far", () => {
    const steep = drawnOf([line("up", [0, 100]), line("flat", [10, 10])], { kind: "none" });
    const { frame } = pictureOf(
      steep.map((each) => each.line),
      400,
      200,
      options,
    )!;
    const readings = readingsAt(steep, 4, 5, "falling");
    expect(nearestReading(readings, frame, 4, frame.y.toPlace(38), 30)?.drawn.line.id).toBe("up");
    expect(nearestReading(readings, frame, 4, frame.y.toPlace(12), 30)?.drawn.line.id).toBe("flat");
    expect(nearestReading(readings, frame, 4, frame.y.toPlace(95), 20)).toBeUndefined();
  });

  it("Z28 of many rows those around the nearest are shown, with the number of the others", () => {
    const all = Array.from({ length: 50 }, (_, i) => i);
    expect(rowsAround(all, 25, 10)).toEqual({ rows: all.slice(20, 30), before: 20, after: 20 });
    expect(rowsAround(all, -1, 10)).toMatchObject({ before: 0, after: 40 });
    expect(rowsAround(all, 49, 10)).toMatchObject({ before: 40, after: 0 });
    expect(rowsAround([1, 2], 0, 10).rows).toEqual([1, 2]);
  });
});

describe("a smoothed band", () => {
  it.each(["ema", "time-ema"] as const)(
    "Z25 has the %s of its points, however many buckets it has",
    (kind) => {
      const values = Array.from({ length: 2_000 }, (_, i) => Number(i >= 1_000));
      const bandOf = (width: number): Line => {
        const count = values.length / width;
        return line(
          "band",
          Array.from({ length: count }, (_, i) => values[i * width]),
          {
            x: Float64Array.from({ length: count }, (_, i) => i * width + (width - 1) / 2),
            count: new Float64Array(count).fill(width),
            exact: false,
            pointCount: values.length,
          },
        );
      };
      const lastOf = (width: number) =>
        drawnOf([bandOf(width)], { kind, weight: 0.999, unit: 1 })[0].calm!.at(-1);
      for (const width of [2, 10, 50]) expect(lastOf(width)).toBeCloseTo(lastOf(1)!, 1);
      expect(lastOf(1)).toBeLessThan(0.99);
    },
  );
});

describe("a heat map", () => {
  it("Z27 has one row per line from the top, a colour per value, and the row under the pointer is its line", () => {
    const lines = [
      line("rank=0", [0, 0, 0]),
      line("rank=1", [10, 10, 10]),
      line("rank=2", [0, 5, Number.NaN]),
    ];
    const heat = heatOf(lines, 400, 200, { xKind: "step", log: false, clip: false })!;
    const drawn = drawnOf(lines, { kind: "none" });
    const pen = new SvgPen();
    paintHeat(pen, heat, drawn, { log: false, dark: false }, ink);
    const rows = [...pen.toSvg(400, 200).matchAll(/y="([\d.]+)"[^>]*fill="([^"]+)"/g)].map(([, y, fill]) => [
      Number(y),
      fill,
    ]);
    expect(rows.length).toBe(8);
    expect(rows[0][0]).toBeLessThan(rows[3][0]);
    expect(new Set(rows.slice(3, 6).map(([, fill]) => fill)).size).toBe(1);
    expect(rows[0][1]).not.toBe(rows[3][1]);
    const readings = readingsAt(drawn, 10, 5, "falling");
    for (const [row, each] of lines.entries())
      expect(readingOfRow(readings, drawn, heat.frame, heat.frame.y.toPlace(row))?.drawn.line).toBe(each);
  });
});

describe("the rows and colours of a heat map", () => {
  it("Z93 rows are named by the last labels that distinguish them, and there is room for the names", () => {
    const labelsOf = (names: readonly string[]) =>
      heatOf(
        names.map((name) => line(name, [1, 2])),
        400,
        200,
        options,
      )!.frame.yTicks.map(({ label }) => label);
    expect(labelsOf(["host=gpu-a01 rank=0", "host=gpu-a02 rank=1"])).toEqual(["rank=0", "rank=1"]);
    expect(labelsOf(["a=1 b=2", "a=2 b=2"])).toEqual(["a=1 b=2", "a=2 b=2"]);
    expect(labelsOf(["my run", "your run"])).toEqual(["my run", "your run"]);
    const long = heatOf([line("a-very-long-name", [1, 2])], 400, 200, options)!.frame;
    expect(long.yTicks[0].label).toMatch(/^….{9}$/);
    expect(long.left).toBeGreaterThanOrEqual(84);
  });

  it("Z93 colours end at the lowest and the highest value; those of counts begin at 0 and end at a whole number", () => {
    const lines = [line("a", [0, 0.25]), line("b", [3, 7.4])];
    expect(heatOf(lines, 400, 200, options)).toMatchObject({ from: 0, to: 7.4 });
    const counted = [line("a", [2, 2.5]), line("b", [3, 7.4])];
    expect(heatOf(counted, 400, 200, { ...options, counts: true })).toMatchObject({ from: 0, to: 8 });
  });
});

describe("a range that is always shown", () => {
  it("Z26 on a log axis begins at the smallest value shown where it would begin at 0", () => {
    const yOf = (log: boolean, fixedY: readonly [number, number]) => {
      const { y } = pictureOf([line("a", [0, 0.25, 0.5])], 400, 200, { ...options, log, fixedY })!.frame;
      return [y.from, y.to];
    };
    expect(yOf(false, [0, 1])[0]).toBeLessThanOrEqual(0);
    expect(yOf(true, [0, 1])[0]).toBeGreaterThan(0.2);
    expect(yOf(true, [0, 1])[0]).toBeLessThanOrEqual(0.25);
    expect(yOf(true, [0, 1])[1]).toBe(1);
    expect(yOf(true, [0.01, 1])[0]).toBe(0.01);
  });
});

describe("a heat map as a sheet", () => {
  it("Z93 has a legend of its colours, and names its rows", () => {
    const lines = [line("rank=0", [0.25, 0.5]), line("rank=1<b>", [1, 4])];
    const pen = new SvgPen();
    paintHeatSheet(pen, "wait", lines, { ...options, dark: false }, ink);
    const svg = pen.toSvg(SHEET.width, HEAT_SHEET_HEIGHT);
    for (const text of ["wait", "0.25", "4", "rank=0", "rank=1&lt;b&gt;"])
      expect(svg).toContain(`>${text}</text>`);
    for (const share of [0, 1]) expect(svg).toContain(`fill="${heatColour(share, false)}"`);
  });
});

describe("what a restart replaced", () => {
  it("Z92 is painted faded, behind its lines", () => {
    const lines = [line("now", [1, 2]), { ...line("then", [2, 1]), colour: "#123456", faded: true }];
    const { frame } = pictureOf(lines, 400, 200, options)!;
    const pen = new SvgPen();
    paintLines(pen, frame, drawnOf(lines, { kind: "none" }), ink);
    const paths = pen.toSvg(400, 200).match(/<path d="[^"]*" fill="none"[^>]*>/g)!;
    expect(paths[0]).toMatch(/stroke="#123456".*opacity="0\.45"/);
    expect(paths[1]).not.toContain("opacity");
  });
});

describe("a chart in words and files", () => {
  it("Z91 the badge of a metric over another shows how points are joined, and how many have no partner", () => {
    const whole = line("a", [1, 2]);
    expect(badgeOf([whole], "tokens")).toEqual({
      text: "exact",
      detail: "Each point is at the value of tokens at the same step.",
    });
    expect(badgeOf([{ ...whole, unplacedCount: 1200 }], "tokens").text).toBe("exact, 1,200 unmatched");
    expect(badgeOf([{ ...whole, exact: false }], "tokens").detail).toContain("at the mean of tokens there");
    const csv = chartCsv("loss", [whole], "metric", "=tokens");
    expect(csv.split("\r\n")[0]).toBe("run,'=tokens,loss");
  });

  it("Z29 the badge says exact only when every point is drawn, and counts points that are not on the axis", () => {
    expect(badgeOf([line("a", [1, 2])]).text).toBe("exact");
    const band = line("b", [1], { exact: false, pointCount: 412_000, unplacedCount: 3 });
    expect(badgeOf([line("a", [1, 2]), band]).text).toBe("band of 412,002");
    expect(badgeOf([band]).detail).toContain("3 cannot be shown on this axis");
  });

  it("Z29 a chart has a sentence and a row of figures per line", () => {
    expect(sentenceOf("loss", [line("a", [3, 1, 2])], "step")).toBe("loss by step, 1 line: a last 2");
    expect(factsOf(line("a", [3, Number.NaN, 2]))).toMatchObject({
      first: "3",
      last: "2",
      min: "2",
      max: "3",
    });
    expect(factsOf(line("a", []))).toMatchObject({ first: "–", min: "–" });
    expect(factsOf(line("t", [0, 1], { words: ["warm", "hot"] }))).toMatchObject({ last: "hot", min: "–" });
  });

  it("Z29 CSV has every point, quotes where needed, and no cell is a formula", () => {
    const hostile = line('=HYPERLINK("x"),a', [1.5, Number.NaN]);
    expect(chartCsv("train/loss", [hostile], "step")).toBe(
      'run,step,train/loss\r\n"\'=HYPERLINK(""x""),a",0,1.5\r\n"\'=HYPERLINK(""x""),a",10,NaN\r\n',
    );
    const bucket = line("b", [2], { low: Float64Array.of(1), high: Float64Array.of(3), exact: false });
    expect(chartCsv("k", [bucket], "time")).toBe("run,time_us,k,min,max\r\nb,0,2,1,3\r\n");
  });

  it("Z29 an SVG has untrusted names as text, and every line as a path", () => {
    const pen = new SvgPen();
    const lines = [
      line("</text><script>alert(1)</script>\u0001", [1, 2, 3]),
      line("b", [2, 3, 1], { dash: [6, 3] }),
    ];
    paintSheet(pen, "a<b & c", lines, options, ink);
    const svg = pen.toSvg(800, sheetHeight(lines));
    expect(svg).not.toContain("<script");
    expect(svg).toContain("a&lt;b &amp; c");
    expect(svg).not.toContain("\u0001");
    expect(svg.match(/<g /g)?.length).toBe(svg.match(/<\/g>/g)?.length);
    expect(svg).toContain('stroke-dasharray="6 3"');
  });

  it("Z22 an outlier in one bucket reaches the top of the picture, among few lines and among many", () => {
    const low = new Float64Array(50);
    const wild = line(
      "wild",
      Array.from({ length: 50 }, () => 0.5),
      { low, high: low.map(() => 1).with(20, 1000) },
    );
    for (const count of [0, 30]) {
      const lines = [
        wild,
        ...Array.from({ length: count }, (_, i) =>
          line(
            `l${i}`,
            Array.from({ length: 50 }, () => 1),
          ),
        ),
      ];
      const { frame } = pictureOf(lines, 800, 400, options, 32)!;
      const pen = new SvgPen();
      paintSheet(pen, "k", lines, options, ink);
      const [x, top] = [frame.x.toPlace(200), frame.y.toPlace(1000)].map((at) => Math.round(at * 100) / 100);
      expect(pen.toSvg(800, 500), `with ${count} others`).toContain(`${x} ${top}`);
    }
  });

  it("Z24 a chart of only NaN, of one point and of nothing is drawn without an error", () => {
    for (const y of [[Number.NaN, Number.NaN], [5], [Infinity], [1e308, -1e308], [0, 0]]) {
      for (const log of [false, true]) {
        const pen = new SvgPen();
        paintSheet(pen, "k", [line("a", y)], { ...options, log }, ink);
        expect(pen.toSvg(800, 400)).not.toMatch(/NaN|Infinity/);
      }
    }
    expect(pictureOf([line("a", [])], 400, 200, options)).toBeUndefined();
  });
});
