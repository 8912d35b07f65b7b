import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { SeriesPointsSchema, type SeriesPoints } from "#proto/cairn/v1/metric_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { SampleSchema } from "#proto/cairn/v1/series_pb.ts";
import { History } from "./history.ts";
import { HELD_MAX, TopRow } from "./top-row.ts";

const points = (steps: readonly number[], timesUs: readonly number[] = []): SeriesPoints =>
  create(SeriesPointsSchema, {
    key: "loss",
    steps: steps.map(BigInt),
    timesUs: timesUs.map(BigInt),
    values: [...steps],
  });

/** A row whose history goes up to step 6; when the key was listed, its last point was step 5 at 500 µs. */
function readRow(): { row: TopRow; steps: () => number[] } {
  const row = new TopRow(create(RunSchema, { id: "a" }));
  const history = new History();
  for (const step of [4, 5, 6]) history.add(step, step);
  const last = create(SampleSchema, { step: 5n, timeUs: 500n, value: 5 });
  row.load([{ key: "loss", labels: "", history, isWhole: true, last }], row.hold());
  return { row, steps: () => [...row.keys.get("loss")!.history.marks().x] };
}

it("T48 points of the watch that the history contains are not added again", () => {
  const { row, steps } = readRow();
  row.addPoints([points([4, 5], [400, 500])], 0);
  row.addPoints([points([6, 7], [600, 700])], 0);
  expect(steps()).toEqual([4, 5, 6, 7]);
  // From the first new point on, all are new.
  row.addPoints([points([5, 6])], 0);
  expect(steps()).toEqual([4, 5, 6, 7, 5, 6]);
});

it("T48 later points at lower steps are new: the run went back", () => {
  const { row, steps } = readRow();
  row.addPoints([points([2, 3], [800, 900])], 0);
  expect(steps()).toEqual([4, 5, 6, 2, 3]);
});

it("T48 the objective is followed, however many metrics a run has", () => {
  const row = new TopRow(create(RunSchema, { id: "a" }));
  row.favourites = ["wer"];
  const ofKey = (key: string) => create(SeriesPointsSchema, { key, steps: [1n], values: [1] });
  row.addPoints(
    Array.from({ length: 64 }, (_, i) => ofKey(`other ${i}`)),
    0,
  );
  expect(row.hasMoreKeys).toBe(false);
  row.addPoints([ofKey("one more"), ofKey("wer")], 0);
  expect([row.keys.has("one more"), row.keys.has("wer"), row.hasMoreKeys]).toEqual([false, true, true]);
});

it("T51 a history is not whole when more points arrived than could be held while it was read", () => {
  const row = new TopRow(create(RunSchema, { id: "a" }));
  const read = [{ key: "loss", labels: "", history: new History(), isWhole: true }];
  const hold = row.hold();
  row.addPoints([points(Array.from({ length: HELD_MAX + 1 }, (_, step) => step))], 0);
  expect([row.load(read, hold), row.keys.get("loss")!.isWhole]).toEqual([false, false]);
  expect([row.load(read, row.hold()), row.keys.get("loss")!.isWhole]).toEqual([true, true]);
});
