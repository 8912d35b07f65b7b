import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { SeriesPointsSchema } from "#proto/cairn/v1/metric_pb.ts";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { widthOf } from "../output/text.ts";
import { renderTop, type TopLook } from "./render-top.ts";
import { TopState } from "./top-state.ts";

const NOW_MS = 1_800_000_000_000;
const look: TopLook = { columns: 100, rows: 12, colour: false, unicode: true, colourDepth: 1, nowMs: NOW_MS };

function stateOf(...names: string[]): TopState {
  const state = new TopState();
  for (const [i, name] of names.entries()) {
    const startedUs = BigInt(NOW_MS - (i + 1) * 60_000) * 1000n;
    const run = create(RunSchema, {
      id: `id-${i}`,
      name,
      namespace: "a",
      status: RunStatus.RUNNING,
      startedUs,
    });
    const row = state.putRun(run, NOW_MS);
    const steps = Array.from({ length: 50 }, (_, step) => BigInt(step * (i + 1)));
    const points = create(SeriesPointsSchema, {
      key: "loss",
      steps,
      values: steps.map((step) => 100 - Number(step)),
    });
    row.addPoints([points], NOW_MS);
  }
  state.matching = names.length;
  return state;
}

function rowsOf(state: TopState): string[] {
  return renderTop(state, look)
    .slice(2, -1)
    .filter((line) => line !== "");
}

describe("renderTop", () => {
  it("T48 has one row per run with its step and its last value", () => {
    const rows = rowsOf(stateOf("first", "second"));
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/first +1m +49 +- +loss 51 █/);
    expect(rows[1]).toMatch(/second +2m +98 +- +loss 2 +█/);
  });

  it("T48 selects, sorts, filters and opens by keys", () => {
    const state = stateOf("beta", "alpha", "gamma");
    const names = () => rowsOf(state).map((line) => line.replace(/^.*● (\S+).*$/, "$1"));
    expect(names()).toEqual(["beta", "alpha", "gamma"]);
    state.press("s");
    expect(names()).toEqual(["alpha", "beta", "gamma"]);
    state.press("r");
    expect(names()).toEqual(["gamma", "beta", "alpha"]);
    for (const key of ["down", "j"]) state.press(key);
    expect(rowsOf(state)[1]).toMatch(/^>● beta/);
    for (const key of ["/", "m", "m", "enter"]) state.press(key);
    expect(names()).toEqual(["gamma"]);
    expect(renderTop(state, look).at(-1)).toContain('filter "mm"');
    for (const key of ["/", "escape"]) state.press(key);
    expect(names()).toHaveLength(3);
    expect(state.press("enter")).toBe("details");
    expect(renderTop(state, { ...look, rows: 24 }).join("\n")).toContain("exact, 50 points");
    expect(state.press("q")).toBeUndefined();
    expect(state.press("?")).toBeUndefined();
    expect(renderTop(state, look).join("\n")).toContain("filter by name");
    state.press("x");
    expect(state.press("q")).toBe("quit");
  });

  it("T48 keeps the selected run visible", () => {
    const state = stateOf(...Array.from({ length: 40 }, (_, i) => `run-${String(i).padStart(2, "0")}`));
    state.press("G");
    expect(rowsOf(state).join("\n")).toContain(">● run-39");
    state.press("g");
    expect(rowsOf(state).join("\n")).toContain(">● run-00");
    expect(rowsOf(state).at(-1)).toContain("and 32 more");
  });

  it("T48 shows how a run ended, and removes it after a while", () => {
    const state = stateOf("brief");
    const ended = create(RunSchema, { ...state.rows.get("id-0")!.run, status: RunStatus.FAILED });
    state.rows.get("id-0")!.update(ended, NOW_MS);
    state.tidy(NOW_MS + 10_000);
    expect(rowsOf(state)[0]).toContain("✗ brief");
    state.tidy(NOW_MS + 20_000);
    expect(rowsOf(state).join("")).toContain("nothing is running");
  });

  it("T48 counts steps from the metric that is ahead, and notices when a run goes back", () => {
    const state = stateOf("restarted");
    const row = state.rows.get("id-0")!;
    const at = (step: number, ms: number) =>
      row.addPoints(
        [create(SeriesPointsSchema, { key: "loss", steps: [BigInt(step)], values: [1] })],
        NOW_MS + ms,
      );
    at(60, 1_000);
    at(3, 1_100);
    expect(row.step).toBe(60);
    at(70, 2_500);
    expect(row.step).toBe(70);
    for (let i = 0; i < 6; i++) at(10 + i, 3_000 + i * 1_000);
    expect(row.step).toBe(15);
    at(16, 9_000);
    expect(row.pace).toBeCloseTo(1, 5);
  });

  it("T18 the pace keeps its whole part", () => {
    const state = stateOf("fast");
    const row = state.rows.get("id-0")!;
    for (const second of [1, 5]) {
      const steps = [BigInt(12_345 * second)];
      row.addPoints(
        [create(SeriesPointsSchema, { key: "loss", steps, values: [1] })],
        NOW_MS + second * 1_000,
      );
    }
    expect(rowsOf(state)[0]).toContain(" 12,335 ");
  });

  it("T56 escapes untrusted text in every view", () => {
    const state = stateOf("evil\u001b[2Jname\u202e\nline", "wide 日本語 name that goes on and on and on");
    const row = state.rows.get("id-0")!;
    row.run.tags["tag"] = "\u001b]0;title\u0007";
    row.run.params["\u001b[1A"] = '"\u001b[31m"';
    row.addPoints([create(SeriesPointsSchema, { key: "m\u001b[5m", steps: [1n], values: [2] })], NOW_MS);
    const screens = [renderTop(state, look)];
    state.press("j");
    state.press("enter");
    screens.push(renderTop(state, { ...look, rows: 24 }));
    state.press("/");
    state.press("\u202e");
    screens.push(renderTop(state, look));
    for (const line of screens.flat()) {
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect(widthOf(line)).toBeLessThanOrEqual(100);
    }
    expect(screens[0]!.join("\n")).toContain("evil\\u001b[2Jname");
  });
});
