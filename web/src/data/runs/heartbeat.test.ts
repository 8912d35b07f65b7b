import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { heartbeatOf } from "./heartbeat.ts";

const NOW_MS = 1_800_000_000_000;
const heardAgo = (seconds: number, heartbeatSeconds: number, status = RunStatus.RUNNING) =>
  create(RunSchema, { status, heartbeatSeconds, lastHeardUs: BigInt((NOW_MS - seconds * 1_000) * 1_000) });

it("Z18 a heartbeat is overdue after one and a half intervals and late after two", () => {
  const after = (seconds: number) => heartbeatOf(heardAgo(seconds, 30), NOW_MS);
  expect(after(3)).toEqual({ heardUs: (NOW_MS - 3_000) * 1_000, isOverdue: false, isLate: false });
  expect([after(45)?.isOverdue, after(46)?.isOverdue]).toEqual([false, true]);
  expect([after(60)?.isLate, after(61)?.isLate]).toEqual([false, true]);
});

it("Z18 between overdue and late there is time for a request, however short the interval", () => {
  const after = (seconds: number) => heartbeatOf(heardAgo(seconds, 2), NOW_MS);
  expect([after(4)?.isOverdue, after(8)?.isLate, after(10)?.isLate]).toEqual([true, false, true]);
});

it("Z18 without a promised interval no run is late, and ended or inactive runs have no heartbeat", () => {
  expect(heartbeatOf(heardAgo(9_000, 0), NOW_MS)).toMatchObject({ isOverdue: false, isLate: false });
  expect(heartbeatOf(heardAgo(3, 30, RunStatus.FINISHED), NOW_MS)).toBeUndefined();
  expect(heartbeatOf(create(RunSchema, { status: RunStatus.RUNNING }), NOW_MS)).toBeUndefined();
});

it("Z18 activity that the page saw in a watch counts", () => {
  expect(heartbeatOf(heardAgo(100, 30), NOW_MS, NOW_MS - 2_000)).toEqual({
    heardUs: (NOW_MS - 2_000) * 1_000,
    isOverdue: false,
    isLate: false,
  });
});
