import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { FORMAT_VERSION } from "#store/sqlite/file/schema.ts";

const run = promisify(execFile);

let folder: string;
let server: ChildServer;

beforeAll(async () => {
  folder = makeFolder();
  server = await startChild(["--data", folder]);
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function curl(version: string, path: string, body?: unknown): Promise<Answer> {
  const data = body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)];
  const argv = ["-s", version, "-w", "\n%{http_code}", ...data, server.url + path];
  const { stdout } = await run("curl", argv, { maxBuffer: 64 << 20 });
  const cut = stdout.lastIndexOf("\n");
  return { status: Number(stdout.slice(cut + 1)), body: JSON.parse(stdout.slice(0, cut)) as Answer["body"] };
}

describe.each(["--http1.1", "--http2-prior-knowledge"])("curl %s", (version) => {
  const call = (method: string, body: unknown) => curl(version, `/cairn.v1.${method}`, body);

  it("W1, V1, V3 writes and reads back with JSON alone", async () => {
    const created = await call("RunService/CreateRun", {
      namespace: "e2e/curl",
      aliases: [version],
      params: { lr: "1e-3", big: "9007199254740993" },
    });
    expect(created).toMatchObject({ status: 200, body: { created: true } });
    const { id } = created.body["run"] as { id: string };
    const values = [0.1, "NaN", "Infinity", "-Infinity", 5e-324];
    const written = await call("MetricService/WriteEnvelope", {
      run: { id },
      writer: "curl",
      seq: 1,
      series: [
        { key: "loss", steps: [1, 2, 3, "9007199254740992", "-9007199254740992"], values },
        { key: "count", kind: "SERIES_KIND_INTEGER", integers: ["9223372036854775807", -1] },
        { key: "note", kind: "SERIES_KIND_TEXT", texts: ["snow ☃"] },
        { key: "flag", kind: "SERIES_KIND_BOOL", bools: [true, false] },
      ],
    });
    expect(written).toEqual({ status: 200, body: { seq: "1", points: "10" } });
    const read = await call("MetricService/ReadSeries", {
      series: ["loss", "count", "note", "flag"].map((key) => ({ run: { id }, key })),
      encoding: "ENCODING_NUMBERS",
    });
    expect(read.body["series"]).toMatchObject([
      {
        form: "FORM_EXACT",
        pointCount: "5",
        steps: { numbers: [-9007199254740992, 1, 2, 3, 9007199254740992] },
        values: { numbers: [5e-324, 0.1, "NaN", "Infinity", "-Infinity"] },
      },
      { values: { integers: ["9223372036854775807", "-1"] } },
      { texts: ["snow ☃"] },
      { values: { numbers: [1, 0] } },
    ]);
    const found = await call("RunService/SearchRuns", {
      query: "metrics.loss.count = 5 and params.lr < 0.01",
      namespace: "e2e/curl",
      columns: ["params", "metrics.loss.max"],
    });
    const runs = found.body["runs"] as { id: string; params: unknown; metrics: unknown }[];
    const own = runs.find((one) => one.id === id)!;
    expect(own).toMatchObject({
      params: { lr: "1e-3", big: "9007199254740993" },
      metrics: { "loss.max": "Infinity" },
    });
    expect(await call("SystemService/VerifyRun", { run: { id } })).toMatchObject({
      body: { verdict: "1 of 1 envelopes, 0 gaps" },
    });
  });

  it("W6 errors are JSON with a code, a reason and facts", async () => {
    const { body } = await call("RunService/CreateRun", {});
    const { id } = body["run"] as { id: string };
    const gap = await call("MetricService/WriteEnvelope", { run: { id }, writer: "w", seq: 5 });
    expect(gap).toMatchObject({
      status: 400,
      body: {
        code: "failed_precondition",
        details: [{ type: "cairn.v1.ErrorDetail", debug: { reason: "SEQ_GAP", facts: { expected: "1" } } }],
      },
    });
    expect(await call("RunService/GetRun", { run: { id: "f".repeat(32) } })).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
    expect(await call("RunService/SearchRuns", { query: "lr >" })).toMatchObject({ status: 400 });
  });

  it("W7 plain health routes answer", async () => {
    expect(await curl(version, "/readyz")).toEqual({ status: 200, body: { status: "ready" } });
    expect(await curl(version, "/healthz")).toEqual({ status: 200, body: { status: "alive" } });
    expect(await call("SystemService/GetInfo", {})).toMatchObject({
      status: 200,
      body: { formatVersion: FORMAT_VERSION },
    });
  });
});
