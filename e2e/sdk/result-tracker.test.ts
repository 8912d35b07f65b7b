import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { CairnResultTracker, createResultTracker } from "#sdk/tracker/result-tracker.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";

const HOME = { HOME: "/nowhere" };

describe("CairnResultTracker", () => {
  let server: ChildServer;
  let client: Cairn;
  beforeAll(async () => {
    server = await startChild(["--data", "memory:"]);
    client = new Cairn({ url: server.url });
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
  });
  const at = (namespace: string, run = "exp") => new CairnResultTracker(client, { namespace, run });

  it("X15 a record comes back with its types and names with slashes", async () => {
    const results = at("a");
    const record = {
      "l2norm/mean": 0.5,
      "l2norm/sem": 1e-3,
      count: 3,
      note: "ok",
      big: 2n ** 60n,
      __proto__x: 1,
    };
    await results.put("attempt_1/out", record);
    expect(await results.get("attempt_1/out")).toEqual(new Map(Object.entries(record)));
    await results.put("__proto__", new Map([["__proto__", 1]]));
    expect(await results.get("__proto__")).toEqual(new Map([["__proto__", 1]]));
  });

  it("X15 a put replaces the whole record, and a number is its text", async () => {
    const results = at("b");
    expect((await results.get(1)).size).toBe(0);
    await results.put("constructors", { x: 1 });
    expect((await results.get("constructor")).size).toBe(0);
    await results.put(1, { x: 1, gone: 2 });
    await results.put(2, { other: 2 });
    await results.put("1", { x: 3 });
    expect(await results.get(1)).toEqual(new Map([["x", 3]]));
    expect(await results.get(2)).toEqual(new Map([["other", 2]]));
    await results.put(1, {});
    expect((await results.get("1")).size).toBe(0);
  });

  it("X15 the last part of the address is the run, the rest its namespace, and keys are its params", async () => {
    const results = await createResultTracker(`${server.url}/langtech/asr/en_wav2vec/exp-7`, { env: HOME });
    await results.put("0", { wer: 0.1 });
    await results.put("trial/1", { wer: 0.05 });
    const run = await client.runs.getRun({ run: { alias: "exp-7", namespace: "langtech/asr/en_wav2vec" } });
    expect(run).toMatchObject({ name: "exp-7", params: { "0": '{"wer":0.1}', "trial/1": '{"wer":0.05}' } });
    const found = await client.runs.searchRuns({ query: "params.trial/1.wer < 0.08" });
    expect(found.runs.map(({ id }) => id)).toEqual([run.id]);
    const stock = await createResultTracker(`${server.url}/results/langtech/asr/en_wav2vec/exp-7`, {
      env: HOME,
    });
    expect(await stock.get(0)).toEqual(new Map([["wer", 0.1]]));
    // A run of that name elsewhere is another one.
    expect((await at("langtech/asr", "exp-7").get(0)).size).toBe(0);
    const alone = await createResultTracker(`${server.url}/solo`, {
      env: { ...HOME, CAIRN_NAMESPACE: "mine" },
    });
    await alone.put("k", { x: 1 });
    expect(await at("mine", "solo").get("k")).toEqual(new Map([["x", 1]]));
    await expect(createResultTracker(`${server.url}/`, { env: HOME })).rejects.toThrow(
      "write it as http://HOST:4700/NAMESPACE/RUN",
    );
  });

  it("X15 many puts of one record at once leave one of them, whole", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => at("c").put("k", { [`only${i}`]: i, shared: i })));
    const record = await at("c").get("k");
    const winner = record.get("shared") as number;
    expect(record).toEqual(
      new Map([
        [`only${winner}`, winner],
        ["shared", winner],
      ]),
    );
  });

  it("X15 files have a media type and come back byte for byte", async () => {
    const results = at("files");
    const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    await results.putFile("samples/a b.png", bytes, { mediaType: "image/png" });
    expect(await results.getFile("samples/a b.png")).toEqual({ mediaType: "image/png", content: bytes });
    await results.putFile("curve.bin", new Blob(["first"]), { step: 1 });
    await results.putFile("curve.bin", "zweite ✓", { step: 2, mediaType: "text/plain; charset=utf-8" });
    const text = async (step?: number) =>
      Buffer.from(
        (await results.getFile("curve.bin", step === undefined ? {} : { step }))!.content,
      ).toString();
    expect(await text()).toBe("zweite ✓");
    expect(await text(1)).toBe("first");
    // A record and a file of one key do not meet.
    await results.put("curve.bin", { done: 1 });
    expect(await text()).toBe("zweite ✓");
    expect(await results.getFile("absent")).toBeUndefined();
    expect(await at("files", "unknown").getFile("absent")).toBeUndefined();
  });

  it("X15 refuses invalid keys and values", async () => {
    const results = at("bad");
    for (const key of ["", 1.5, NaN, "\ud800"]) {
      await expect(results.put(key, { x: 1 })).rejects.toThrow("cannot use result key");
      await expect(results.get(key)).rejects.toThrow("cannot use result key");
    }
    await expect(results.put("a", { f: () => 1 })).rejects.toThrow('cannot put result "f" of "a"');
    expect((await results.get("a")).size).toBe(0);
    await expect(results.putFile("/x", "y")).rejects.toThrow('cannot put file "/x"');
    const { run } = await client.runs.createRun({ namespace: "victim" });
    await expect(results.putFile(`../${run!.id}/x`, "y")).rejects.toThrow("a part of dots");
    expect((await client.artifacts.listArtifacts({ run: { id: run!.id } })).artifacts).toEqual([]);
  });
});
