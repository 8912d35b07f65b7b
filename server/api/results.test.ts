import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { useServer } from "../testing/servers.ts";

const server = useServer();

function put(path: string, body: string): Promise<Response> {
  const headers = { "content-type": "application/octet-stream" };
  return fetch(`${server().listening.url}/results/${path}`, { method: "PUT", headers, body });
}

async function get(path: string): Promise<{ status: number; record: unknown }> {
  const response = await fetch(`${server().listening.url}/results/${path}`);
  return { status: response.status, record: await response.json() };
}

describe("results over plain HTTP", () => {
  it("X40 a record is returned as it was put, and is a param of a run in that namespace", async () => {
    const record = '{"loss": 0.5, "l2norm/mean": 1e-3, "name": "x", "big": 9007199254740993}';
    expect((await put("langtech/asr/exp-1/0", record)).status).toBe(204);
    const { status } = await get("langtech/asr/exp-1/0");
    expect(status).toBe(200);
    const text = await (await fetch(`${server().listening.url}/results/langtech/asr/exp-1/0`)).text();
    expect(text).toContain("9007199254740993");
    const { runs } = clientsOf(createGrpcTransport({ baseUrl: server().listening.url }));
    const { runs: found } = await runs.searchRuns({
      query: 'params."0".loss = 0.5',
      namespace: "langtech/asr",
    });
    expect(found).toMatchObject([{ namespace: "langtech/asr", name: "exp-1", aliases: ["exp-1"] }]);
  });

  it("W201 a run made by its first record has ended, and records do not end or start others", async () => {
    const { runs } = clientsOf(createGrpcTransport({ baseUrl: server().listening.url }));
    const find = async (namespace: string) => (await runs.searchRuns({ namespace })).runs;
    await put("ended/lab/exp/0", '{"x": 1}');
    const [first] = await find("ended/lab");
    expect(first).toMatchObject({ status: RunStatus.FINISHED, creator: "owner", endedBy: "owner" });
    expect(first!.endedUs).toBeGreaterThan(0n);
    await put("ended/lab/exp/1", '{"x": 2}');
    expect(await find("ended/lab")).toMatchObject([{ status: RunStatus.FINISHED, endedUs: first!.endedUs }]);
    await runs.createRun({ namespace: "ended/job", aliases: ["exp"] });
    await get("ended/job/exp");
    await put("ended/job/exp/0", '{"x": 1}');
    expect(await find("ended/job")).toMatchObject([{ status: RunStatus.RUNNING, endedUs: 0n }]);
  });

  it("X41 a put replaces the whole record, and a missing one is not found", async () => {
    await put("a/b/run/1", '{"x": 1, "y": 2}');
    await put("a/b/run/1", '{"y": 3}');
    expect(await get("a/b/run/1")).toEqual({ status: 200, record: { y: 3 } });
    for (const path of ["a/b/run/2", "a/b/other/1", "nothing"]) expect((await get(path)).status).toBe(404);
    expect(await get("a/b/run")).toEqual({ status: 200, record: { "1": { y: 3 } } });
  });

  it("X42 a key may contain slashes: the base that was requested last decides where it begins", async () => {
    expect((await get("ns/deep/exp")).status).toBe(404);
    await put("ns/deep/exp/attempt_1/out", '{"v": 1}');
    expect(await get("ns/deep/exp")).toEqual({ status: 200, record: { "attempt_1/out": { v: 1 } } });
    await put("ns/deep/exp/attempt_2/out/more", '{"v": 2}');
    expect(await get("ns/deep/exp/attempt_2/out/more")).toEqual({ status: 200, record: { v: 2 } });
    // A request for a missing record does not set a base.
    expect((await get("ns/deep/exp/attempt_3")).status).toBe(404);
    expect((await get("ns/deep/exp")).status).toBe(200);
    await put("ns/deep/exp/attempt_3/out", '{"v": 3}');
    expect((await get("ns/deep/exp")).record).toMatchObject({ "attempt_3/out": { v: 3 } });
  });

  it("X45 without a requested base the key is the last segment, for any existing runs", async () => {
    const { runs } = clientsOf(createGrpcTransport({ baseUrl: server().listening.url }));
    await runs.createRun({ namespace: "open/lab", aliases: ["exp"] });
    await put("open/lab/exp/attempt_1/out", '{"v": 1}');
    const { runs: found } = await runs.searchRuns({ query: 'params."out".v = 1', namespace: "open" });
    expect(found).toMatchObject([{ namespace: "open/lab/exp", name: "attempt_1" }]);
  });

  it.each([
    ["no JSON", "x/y/z", "{"],
    ["no object", "x/y/z", "[1]"],
    ["no key", "x/y", "{}"],
    ["too large", "x/y/z", JSON.stringify({ v: "x".repeat(70_000) })],
    ["an invalid namespace", "x/../y/z", "{}"],
  ])("X43 %s is refused with a message and stores nothing", async (_what, path, body) => {
    const response = await put(path, body);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(((await response.json()) as { message: string }).message).toMatch(/^cannot /);
    expect((await get("x/y")).status).toBe(404);
  });
});
