import { rmSync } from "node:fs";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Encoding } from "#proto/cairn/v1/metric_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import type { Server } from "../serve.ts";
import { httpClient, jsonOf, sha256, VERSIONS, type HttpClient } from "../testing/artifact-client.ts";
import { makeFolder, startServer, useWays, TWO_WAYS } from "../testing/servers.ts";

const ARCHIVE = "code/workdir.tar.gz";
const open = useWays();

async function forbidIn(
  { namespaces }: Clients,
  path: string,
  policy: { forbidConsole?: boolean; forbidCode?: boolean },
): Promise<void> {
  await namespaces.createNamespace({ path }).catch(() => undefined);
  await namespaces.updateNamespace({ path, ...policy });
}

const textsOf = async ({ logs }: Clients, id: string) =>
  (await logs.readLog({ run: { id } })).lines.map(({ text }) => text);

describe.each(TWO_WAYS)("$name", (way) => {
  it("N5 N7 N8 a client gets what a namespace forbids to capture, and forbidden data is left out", async () => {
    const api = open(way);
    const lab = `capture-${TWO_WAYS.indexOf(way)}`;
    await forbidIn(api, lab, { forbidConsole: true, forbidCode: true });
    const forbidden = { console: lab, code: lab };
    const created = await api.runs.createRun({
      namespace: `${lab}/asr`,
      provenance: { code: { commit: "c", dirtyPatch: "+x" } },
    });
    expect(created).toMatchObject({ created: true, forbiddenCapture: forbidden });
    expect(created.run!.provenance).toMatchObject({
      code: { commit: "c", dirtyPatch: "" },
      environment: { "note:code": `left out: namespace "${lab}" forbids code capture` },
    });
    const { id } = created.run!;
    const envelope = {
      run: { id },
      writer: "w",
      seq: 1n,
      series: [{ key: "loss", values: [0.5] }],
      log: [
        { lines: ["printed", "too"], stream: "stderr" },
        { lines: ["given"], written: true },
      ],
      artifacts: [
        { name: ARCHIVE, content: Buffer.from("tar") },
        { name: "a.txt", content: Buffer.from("a") },
      ],
    };
    const ack = await api.metrics.writeEnvelope(envelope);
    expect(ack).toMatchObject({ seq: 1n, duplicate: false, points: 1n });
    expect(ack.withheld).toMatchObject({ lines: 2n, artifacts: 1n, forbidden });
    const again = await api.metrics.writeEnvelope(envelope);
    expect(again).toMatchObject({ seq: 1n, duplicate: true });
    expect(again.withheld).toBeUndefined();
    expect(await textsOf(api, id)).toEqual(["given"]);
    const { artifacts } = await api.artifacts.listArtifacts({ run: { id } });
    expect(artifacts.map(({ name }) => name)).toEqual(["a.txt"]);
    const { series } = await api.metrics.readSeries({
      series: [{ run: { id }, key: "loss" }],
      encoding: Encoding.NUMBERS,
    });
    expect(series[0]!.values!.numbers).toEqual([0.5]);
    await api.namespaces.updateNamespace({ path: lab, forbidConsole: false });
    const below = await api.namespaces.getNamespace({ path: `${lab}/asr` });
    expect(below.capture).toBeUndefined();
    expect(below.forbiddenCapture).toMatchObject({ console: "", code: lab });
    expect(await api.namespaces.getNamespace({ path: lab })).toMatchObject({
      capture: { forbidConsole: false, forbidCode: true },
    });
  });
});

describe("content of artifacts and a server on disk", () => {
  let folder: string;
  let server: Server;
  let api: Clients;
  beforeAll(async () => {
    folder = makeFolder();
    await start();
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const start = async () => {
    server = await startServer(["--data", folder]);
    api = clientsOf(createGrpcTransport({ baseUrl: server.listening.url }));
  };
  const newRun = async (namespace: string) => (await api.runs.createRun({ namespace })).run!.id;

  it.each(VERSIONS)(
    "N8 an archive of code is refused by name over %s, other files are not",
    async (version) => {
      const lab = `files${VERSIONS.indexOf(version)}`;
      const id = await newRun(`${lab}/a`);
      const http: HttpClient = httpClient(server.listening.url, version);
      const path = `/artifacts/${id}/${ARCHIVE}`;
      const content = Buffer.alloc(1_000, 7);
      const piece = (from: number, to: number) => ({
        "x-cairn-sha256": sha256(content),
        "content-range": `bytes ${from}-${to - 1}/${content.length}`,
      });
      expect(await http.call("PUT", path, piece(0, 400), content.subarray(0, 400))).toMatchObject({
        status: 202,
      });
      await forbidIn(api, lab, { forbidCode: true });
      // Also what was begun while it was allowed.
      const refused = [
        await http.call("PUT", path, piece(400, 1_000), content.subarray(400)),
        await http.call("PUT", path, {}, content),
      ];
      for (const answer of refused) {
        expect(answer.status).toBe(400);
        expect(jsonOf(answer)).toMatchObject({
          reason: "CAPTURE_FORBIDDEN",
          message: expect.stringContaining(`cannot store artifact "${ARCHIVE}": namespace "${lab}" forbids`),
          hint: expect.stringContaining(`ask an administrator of namespace "${lab}"`),
        });
      }
      const artifact = { name: ARCHIVE, uri: "s3://bucket/x.tar.gz" };
      const recorded = await errorOf(api.artifacts.recordArtifact({ run: { id }, artifact }));
      expect(recorded).toMatchObject({
        details: [{ reason: "CAPTURE_FORBIDDEN", facts: { namespace: lab } }],
      });
      expect(await http.call("PUT", `/artifacts/${id}/code/notes.md`, {}, "x")).toMatchObject({
        status: 201,
      });
      const { artifacts } = await api.artifacts.listArtifacts({ run: { id } });
      expect(artifacts.map(({ name }) => name)).toEqual(["code/notes.md"]);
      http.close();
    },
  );

  it("N5 a policy survives a restart, and a restore brings back the one of that time", async () => {
    await forbidIn(api, "kept", { forbidConsole: true });
    const id = await newRun("kept");
    await api.system.createBackup({ name: "forbidden" });
    await server.close();
    await start();
    const say = (text: string) => api.metrics.writeEnvelope({ run: { id }, log: [{ lines: [text] }] });
    expect((await say("one")).withheld).toMatchObject({ lines: 1n });
    await api.namespaces.updateNamespace({ path: "kept", forbidConsole: false });
    expect((await say("two")).withheld).toBeUndefined();
    await api.system.restoreBackup({ name: "forbidden" });
    expect((await say("three")).withheld).toMatchObject({ lines: 1n, forbidden: { console: "kept" } });
    expect(await textsOf(api, id)).toEqual([]);
  });
});
