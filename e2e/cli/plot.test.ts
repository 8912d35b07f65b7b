import { beforeAll, describe, expect, it } from "vitest";
import { Picture } from "#proto/cairn/v1/key_pb.ts";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { useTerminal } from "./testing/cairn.ts";

const UTF8 = { LANG: "C.UTF-8", COLUMNS: "100" };
const LONG_POINTS = 100_000;
const SPIKE_STEP = 61_803;

interface Charts {
  charts: { key: string; series: Series[]; groups: { name: string; mean: number[]; runIds: string[] }[] }[];
}
interface Series {
  run: string;
  form: string;
  pointCount: number;
  nanCount: number;
  x: number[];
  values: (number | string)[];
  max: number[];
}

describe("cairn plot", () => {
  const terminal = useTerminal();

  async function write(
    name: string,
    series: Record<string, readonly number[]>,
    options: { params?: Record<string, string>; namespace?: string; labels?: Record<string, string> } = {},
  ): Promise<string> {
    const { params = {}, namespace = "charts", labels = {} } = options;
    const { run } = await terminal.client.runs.createRun({
      namespace,
      name,
      params,
      startedUs: 1_700_000_000_000_000n,
    });
    await terminal.client.metrics.writeEnvelope({
      run: { id: run!.id },
      series: Object.entries(series).map(([key, values]) => ({
        key,
        labels,
        values: [...values],
        steps: values.map((_, step) => BigInt(step)),
        timesUs: values.map((_, step) => 1_700_000_000_000_000n + BigInt(step) * 1_000_000n),
      })),
      status: RunStatus.FINISHED,
    });
    return run!.id;
  }

  const plot = async (words: readonly string[], env: NodeJS.ProcessEnv = UTF8) =>
    terminal.cairn(["plot", ...words], { env });

  beforeAll(async () => {
    const long = Array.from({ length: LONG_POINTS }, (_, step) =>
      step === SPIKE_STEP ? 9.5 : 1 + Math.sin(step / 50) / 10,
    );
    await write("long", { "train/loss": long });
    await write("short", {
      "train/loss": [3, 2, 1.5, 1.25],
      "train/lr": [0.1, 0.1, 0.1, 0.1],
      acc: [0.1, 0.3, 0.5, 0.6],
    });
    await write("gaps", {
      "train/loss": Array.from({ length: 60 }, (_, i) => (i >= 20 && i < 40 ? NaN : i - 3)),
    });
    for (const [lr, seed] of [
      [0.1, 1],
      [0.1, 2],
      [0.01, 1],
      [0.01, 2],
    ] as const) {
      const params = { lr: String(lr), seed: String(seed) };
      await write(
        `lr${lr}-s${seed}`,
        { loss: [1, 2, 3].map((x) => x * lr * seed) },
        { params, namespace: "sweep" },
      );
    }
    await terminal.client.metrics.describeKey({
      description: {
        namespace: "charts",
        key: "acc",
        unit: "share",
        direction: Direction.MAXIMIZE,
        picture: Picture.ACCURACY,
      },
    });
  });

  it("T40, T42: shows one spike among 100,000 points, and how the line was read", async () => {
    const { stdout, code } = await plot(["long", "train/loss"]);
    const lines = stdout.split("\n");
    expect(stdout).toContain("band of 100,000 points");
    const column = lines.find((line) => line.startsWith("10 ┤"))! && lines[2]!.search(/[\u2801-\u28ff]/);
    // A thin line in a single column, from the top down to the others.
    expect(column).toBeGreaterThan(50);
    for (const line of lines.slice(2, 13)) expect(line.trimEnd()).toMatch(/^ *\d* ?[┤│] +[\u2801-\u28ff]$/);
    expect(code).toBe(0);
  });

  it("T42 prints the series with --json: every point, or the extremes of every bucket", async () => {
    const { charts } = (await plot(["short", "long", "train/*", "--json"])).json() as Charts;
    expect(charts.map(({ key }) => key)).toEqual(["train/loss", "train/lr"]);
    const [short, long] = charts[0]!.series;
    expect(short).toMatchObject({
      run: "short",
      form: "exact",
      pointCount: 4,
      x: [0, 1, 2, 3],
      values: [3, 2, 1.5, 1.25],
    });
    expect(long).toMatchObject({ run: "long", form: "band", pointCount: LONG_POINTS });
    const peak = long!.max.indexOf(9.5);
    expect(Math.abs(long!.x[peak]! - SPIKE_STEP)).toBeLessThan(LONG_POINTS / 300);
  });

  it("T42 draws several metrics below each other, with units and direction", async () => {
    const { stdout } = await plot(["short", "acc", "train/loss", "--height", "5"]);
    expect(stdout).toMatch(/^acc {2}share · higher is better\n1\.0 ┤/);
    expect(stdout).toMatch(/\n\ntrain\/loss\n/);
    expect(stdout.match(/exact, 4 points/g)).toHaveLength(2);
  });

  it("T72 a glob finds metrics behind many ranks of another, and no texts", async () => {
    const id = await write("ranked", { "b/loss": [2, 1] });
    const ranks = Array.from({ length: 1_100 }, (_, rank) => ({
      key: "a/loss",
      labels: { rank: String(rank) },
      steps: [1n],
      values: [rank],
    }));
    const text = { key: "c/loss", kind: SeriesKind.TEXT, steps: [1n], texts: ["low"] };
    await terminal.client.metrics.writeEnvelope({ run: { id }, series: [...ranks, text] });
    const { charts } = (await plot(["ranked", "?/loss", "--json"])).json() as Charts;
    expect(charts.map(({ key, series }) => [key, series.length])).toEqual([
      ["a/loss", 1_100],
      ["b/loss", 1],
    ]);
    expect(await plot(["ranked", "c/loss"])).toMatchObject({ code: 3, stdout: "" });
  });

  it("T42 says when a line is smoothed", async () => {
    expect((await plot(["short", "train/loss", "--smooth", "0.6"])).stdout).toContain(
      "smoothed 0.6 of exact, 4 points",
    );
  });

  it("T42 draws the requested range and axis", async () => {
    const steps = (
      await plot(["long", "train/loss", "--from", "100", "--to", "199", "--json"])
    ).json() as Charts;
    expect(steps.charts[0]!.series[0]).toMatchObject({ form: "exact", pointCount: 100 });
    const elapsed = (
      await plot(["short", "train/loss", "--x", "elapsed", "--to", "2s", "--json"])
    ).json() as Charts;
    expect(elapsed.charts[0]!.series[0]!.x).toEqual([0, 1_000_000, 2_000_000]);
    const time = (
      await plot(["short", "train/loss", "--x", "time", "--from", "2023-11-14T22:13:22Z", "--json"])
    ).json() as Charts;
    expect(time.charts[0]!.series[0]!.values).toEqual([1.5, 1.25]);
  });

  it("T43 is drawn in ASCII where the locale is not UTF-8", async () => {
    const { stdout } = await plot(["short", "long", "train/loss"], { LC_ALL: "C", COLUMNS: "80" });
    expect(stdout).toMatch(/^[\n -~]*$/);
    expect(stdout).toContain("* short");
    expect(stdout).toContain("+ long");
  });

  it("T44 draws groups of runs, named or found, as their means", async () => {
    const { stdout } = await plot(["-n", "sweep", "loss", "--group-by", "params.lr"]);
    expect(stdout).toContain("params.lr = 0.01");
    expect(stdout).toContain("mean ± std of 2 runs, 6 points");
    const found = (await plot(["-n", "sweep", "loss", "-g", "params.lr", "--json"])).json() as Charts;
    expect(found.charts[0]!.groups.map(({ mean }) => mean)).toEqual([
      [expect.closeTo(0.015), expect.closeTo(0.03), expect.closeTo(0.045)],
      [expect.closeTo(0.15), expect.closeTo(0.3), expect.closeTo(0.45)],
    ]);
    const named = (
      await plot(["lr0.1-s1", "lr0.01-s1", "loss", "-g", "params.seed", "--json"])
    ).json() as Charts;
    expect(named.charts[0]!.groups).toMatchObject([{ name: "params.seed = 1", runIds: { length: 2 } }]);
  });

  it("T45 counts NaN, and on a log axis the values that it cannot show", async () => {
    const { stdout } = await plot(["gaps", "train/loss", "--log"]);
    expect(stdout).toContain("20 NaN, 4 points at or below 0");
    expect(stdout).toContain("log scale");
  });

  it("T56 escapes control characters of hostile names", async () => {
    const id = await write(
      "evil\u001b[2J\u202e",
      { "bad\u202ekey": [1, 2] },
      { labels: { host: "\u202ered" } },
    );
    const { stdout } = await plot([id, "bad*"]);
    expect(stdout).toContain("bad\\u202ekey of evil\\u001b[2J\\u202e");
    expect(stdout).toContain("host=\\u202ered");
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it.each([
    [["nothing-like-it", "loss"], 3, 'cannot find run "nothing-like-it"'],
    [["short", "train/los"], 3, "did you mean train/loss?"],
    [["short"], 2, "a run and a metric are required"],
    [["short", "train/loss", "--from", "soon"], 2, 'cannot use "soon" as a place on the axis'],
    [["short", "train/loss", "--smooth", "1"], 2, "It must be a number from 0 to below 1."],
    [["-n", "nowhere", "loss"], 3, "no run matches"],
    [["-n", "sweep", "loss", "-g", "params.lr", "--x", "elapsed"], 2, "use --x step"],
  ])("T2 explains what is wrong with %j", async (words, exit, message) => {
    const { stderr, code, stdout } = await plot(words);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([exit, ""]);
  });
});
