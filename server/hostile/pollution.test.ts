import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { callRaw } from "#wire/connect/testing/raw-call.ts";
import { startChild, type ChildServer } from "../testing/child.ts";
import { makeFolder } from "../testing/servers.ts";

const PROBE = new URL("../testing/pollution-probe.js", import.meta.url).href;
/** Names of properties that plain objects have or that lead to those of all objects. */
const NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__"];
const EVIL = { x: 1, polluted: 1, isAdmin: true, prototype: { x: 1, polluted: 1 } };

/** Its own properties, in no order. */
function mapOf(object: unknown): Map<string, unknown> {
  return new Map(Object.entries(object as object));
}

/** An object with each of the names as its own key, which only JSON makes of `__proto__`. */
function keyed<T>(value: T): Record<string, T> {
  return JSON.parse(
    `{${NAMES.map((name) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`,
  ) as Record<string, T>;
}

describe("S13 keys that are names of properties", () => {
  let folder: string;
  let server: ChildServer;

  beforeAll(async () => {
    folder = makeFolder();
    const data = join(folder, "data");
    mkdirSync(data);
    writeFileSync(join(data, "cairn.toml"), "log_level = 'warn'\n");
    const nodeOptions = `${process.env["NODE_OPTIONS"] ?? ""} --import=${PROBE}`;
    server = await startChild(["--data", data], { env: { ...process.env, NODE_OPTIONS: nodeOptions } });
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    rmSync(folder, { recursive: true });
  });

  /** Reads the answer as JSON, where every key is data. */
  async function call(
    method: string,
    body: unknown,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const answer = await fetch(`${server.url}/cairn.v1.${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  }

  /** Members in the prototypes of every thread of the server that were not there at its start. */
  async function polluted(): Promise<string[]> {
    const from = server.greeting.length;
    server.child.kill("SIGUSR2");
    const said = (): string[] => server.greeting.slice(from).filter((line) => line.startsWith("probe "));
    // The threads that serve, write, read and search.
    await expect.poll(() => said().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(4);
    return said().map((line) => line.replace(/^probe \d+ /, ""));
  }

  const run = { run: { alias: "__proto__" } };
  const evilText = JSON.stringify(EVIL);

  it("S13 are returned as data from params, tags, labels and metadata", async () => {
    const params = keyed(evilText);
    const tags = keyed("tag");
    const made = await call("RunService/CreateRun", {
      namespace: NAMES.join("/"),
      aliases: NAMES,
      params,
      tags,
      provenance: { environment: tags },
    });
    expect(made.status, JSON.stringify(made.json)).toBe(200);
    const { json } = await call("RunService/GetRun", run);
    const canonical = '{"isAdmin":true,"polluted":1,"prototype":{"polluted":1,"x":1},"x":1}';
    expect(mapOf(json["params"])).toEqual(mapOf(keyed(canonical)));
    expect(mapOf(json["tags"])).toEqual(mapOf(tags));
    const environment = (json["provenance"] as { environment: object }).environment;
    expect(mapOf(environment)).toEqual(mapOf(tags));

    for (const key of NAMES) {
      const written = await call("MetricService/WriteEnvelope", {
        ...run,
        series: [{ key, labels: tags, values: [1], steps: [1] }],
        params: keyed(evilText),
        log: [{ stream: key, lines: [key] }],
        artifacts: [{ name: key, uri: "s3://bucket/key", metadata: keyed(evilText) }],
      });
      expect(written.status, JSON.stringify(written.json)).toBe(200);
    }
    const series = (await call("MetricService/ListSeries", run)).json["series"] as {
      key: string;
      labels: object;
    }[];
    expect(series.map(({ key }) => key).sort()).toEqual([...NAMES].sort());
    for (const { labels } of series) {
      expect(mapOf(labels)).toEqual(mapOf(tags));
    }
    const listed = (await call("ArtifactService/ListArtifacts", run)).json["artifacts"] as {
      name: string;
      metadata: object;
    }[];
    expect(listed.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
    for (const { metadata } of listed) {
      expect(mapOf(metadata)).toEqual(mapOf(keyed(canonical)));
    }
    const log = (await call("LogService/ReadLog", run)).json["lines"] as { text: string; stream: string }[];
    expect(log.map(({ text }) => text)).toEqual(NAMES);
    expect(new Set(await polluted())).toEqual(new Set(["[]"]));
  });

  it("S13 are returned as data from binary envelopes", async () => {
    const envelope = create(EnvelopeSchema, { run: { alias: "constructor" }, tags: keyed("binary") });
    const message = toBinary(EnvelopeSchema, envelope);
    for (const protocol of ["grpc", "connect", "grpc-web"] as const) {
      expect(await callRaw(server.url, { protocol, message })).toEqual({ ok: true });
    }
    const { json } = await call("RunService/GetRun", run);
    expect(mapOf(json["tags"])).toEqual(mapOf(keyed("binary")));
  });

  it("S13 find exactly what they name in queries", async () => {
    const other = { namespace: "other", params: { plain: "1" }, tags: { plain: "tag" } };
    await call("RunService/CreateRun", other);
    for (const name of NAMES) {
      for (const query of [
        `params.\`${name}\`.x = 1`,
        `params.\`${name}\`.prototype.polluted = 1`,
        `tags.\`${name}\` = "binary"`,
        `metrics.\`${name}\`.last = 1`,
        `alias = "${name}"`,
      ]) {
        const { status, json } = await call("RunService/SearchRuns", {
          query,
          columns: [`params.${name}.x`],
        });
        expect([status, json["totalCount"]], query).toEqual([200, "1"]);
      }
      const ordered = await call("RunService/SearchRuns", { query: `order by params.\`${name}\`.x desc` });
      expect(ordered.json["totalCount"]).toBe("2");
    }
  });

  it("S13 are not fields of messages, headers or paths", async () => {
    for (const name of NAMES) {
      const body = `{${JSON.stringify(name)}: ${evilText}, "namespace": "x"}`;
      expect((await call("RunService/CreateRun", body)).status, name).toBe(400);
      const inner = `{"provenance": {${JSON.stringify(name)}: ${evilText}}}`;
      expect((await call("RunService/CreateRun", inner)).status, name).toBe(400);
      const url = `${server.url}/${name}/${name}?${name}[x]=1&${name}=1`;
      expect((await fetch(url, { headers: { "x-a": name } })).status).toBe(404);
    }
    expect(new Set(await polluted())).toEqual(new Set(["[]"]));
  });
});

it("S13 a server whose settings contain such keys reports it and does not start", async () => {
  const folder = makeFolder();
  try {
    for (const line of [
      "__proto__ = { x = 1 }",
      "[constructor]\nprototype = { x = 1 }",
      "[__proto__]\nx = 1",
    ]) {
      writeFileSync(join(folder, "cairn.toml"), `${line}\n`);
      await expect(startChild(["--data", folder])).rejects.toThrow(
        /unknown setting|cannot read settings file/,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
