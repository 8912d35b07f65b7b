import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { AppRun, makeFromEnv } from "#sdk/tracker/app-run.ts";
import { CairnTracker, createCairnTracker } from "#sdk/tracker/cairn/cairn-tracker.ts";
import { trackerConformance } from "#sdk/tracker/conformance.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";

const HOME = { HOME: "/nowhere" };

describe("CairnTracker", () => {
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
  const at = (namespace: string) => new CairnTracker(client, { namespace });
  const getRun = (alias: string, namespace = "") => client.runs.getRun({ run: { alias, namespace } });

  describe("conformance", () => {
    trackerConformance({
      test: (title, body) => it(`X4 ${title}`, body),
      makeTracker: () => at("conformance"),
    });
  });

  it("X5 a run id is an alias of one run, metadata are its params, artifacts its references", async () => {
    const tracker = at("langtech/asr");
    await tracker.addMetadata("local://torchx/job-1", { lr: 1e-3, big: 2n ** 60n, whole: 1 });
    await tracker.addArtifact("local://torchx/job-1", "model", "s3://models/1", { step: 7 });
    const run = await getRun("local://torchx/job-1");
    expect(run).toMatchObject({
      namespace: "langtech/asr",
      name: "job-1",
      aliases: ["local://torchx/job-1"],
    });
    expect(run.params).toEqual({ lr: "0.001", big: "1152921504606846976", whole: "1" });
    const artifact = await client.artifacts.getArtifact({ run: { id: run.id }, name: "model" });
    expect(artifact).toMatchObject({ uri: "s3://models/1", metadata: { step: "7" } });
  });

  it("X5 reads what others wrote: floats that look whole, stored files, steps, no alias", async () => {
    const { run } = await client.runs.createRun({
      namespace: "others",
      params: { a: "1.0", b: "9007199254740993", c: "NaN" },
    });
    const id = run!.id;
    await client.artifacts.recordArtifact({
      run: { id },
      artifact: { name: "a b/log.txt", content: Buffer.from("x") },
    });
    for (const step of [1n, 3n, 2n]) {
      await client.artifacts.recordArtifact({
        run: { id },
        artifact: { name: "ck", step, uri: `s3://ck/${step}` },
      });
    }
    const tracker = at("others");
    expect(await tracker.runIds()).toEqual([id]);
    expect(await tracker.metadata(id)).toEqual(
      new Map<string, unknown>([
        ["a", 1],
        ["b", 9_007_199_254_740_993n],
        ["c", NaN],
      ]),
    );
    const artifacts = await tracker.artifacts(id);
    expect(artifacts.get("ck")?.path).toBe("s3://ck/3");
    const stored = artifacts.get("a b/log.txt")!.path;
    expect(await (await fetch(stored)).text()).toBe("x");
    // The same id is unknown in another namespace.
    expect((await at("elsewhere").metadata(id)).size).toBe(0);
  });

  it("X5 artifacts may have invalid names and paths", async () => {
    const tracker = at("names");
    const names = [
      "",
      "/absolute",
      "..",
      "a//b",
      "a/",
      "C:\\model",
      "new\nline",
      "%2Fx",
      "s3://x/y",
      "ok/name.pt",
      "é".repeat(600),
      `${"é".repeat(600)}x`,
      "a/".repeat(40),
    ];
    for (const name of names)
      await tracker.addArtifact("run", name, `path\nof "${name.slice(0, 20)}"`, { of: name });
    const artifacts = await tracker.artifacts("run");
    const byMetadata = new Map(
      [...artifacts.values()].map((artifact) => [artifact.metadata?.get("of"), artifact]),
    );
    expect(artifacts.size).toBe(names.length);
    for (const name of names.filter((each) => Buffer.byteLength(each) <= 1_024)) {
      expect(artifacts.get(name)).toBe(byMetadata.get(name));
    }
    for (const name of names) expect(byMetadata.get(name)?.path).toBe(`path\nof "${name.slice(0, 20)}"`);
    await tracker.addArtifact("run", "bare", "", {});
    expect((await tracker.artifacts("run")).get("bare")).toEqual({
      name: "bare",
      path: "",
      metadata: new Map(),
    });
  });

  it("X5 run ids may be empty, broken or longer than an alias", async () => {
    const tracker = at("ids");
    const ids = ["", "\ud800 half", "x".repeat(1_500), `${"x".repeat(1_500)}y`, "é".repeat(1_000)];
    for (const [i, id] of ids.entries()) await tracker.addMetadata(id, { i });
    for (const [i, id] of ids.entries()) expect(await tracker.metadata(id)).toEqual(new Map([["i", i]]));
    const listed = await tracker.runIds();
    for (const id of [ids[0]!, ids[2]!, ids[3]!, ids[4]!]) expect(listed).toContain(id);
    await tracker.addSource("child", ids[2]!);
    expect((await tracker.sources("child"))[0]?.sourceRunId).toBe(ids[2]);
    expect(await tracker.runIds({ parentRunId: ids[2]! })).toEqual(["child"]);
  });

  it("X5 a value that is not JSON becomes a text and is marked, until it is written again", async () => {
    const tracker = at("odd");
    await tracker.addMetadata("run", { when: Symbol("later"), fine: 1 });
    expect(await tracker.metadata("run")).toEqual(
      new Map<string, unknown>([
        ["when", "Symbol(later)"],
        ["fine", 1],
      ]),
    );
    expect((await getRun("run", "odd")).tags).toEqual({ "torchx.run_id": "run", "as-text.when": "symbol" });
    await tracker.addMetadata("run", { when: 5 });
    expect((await getRun("run", "odd")).tags).toEqual({ "torchx.run_id": "run" });
    await tracker.addMetadata("run", { ["k".repeat(512)]: 1 });
    expect((await tracker.metadata("run")).get("k".repeat(512))).toBe(1);
  });

  it("X6 the experiment of a job extends the namespace, and the launcher finds it", async () => {
    const config = `${server.url}/langtech/ddp`;
    const env = {
      ...HOME,
      TORCHX_JOB_ID: "slurm://t/9",
      TORCHX_TRACKING_EXPERIMENT_NAME: "wav2vec",
      TORCHX_TRACKING_RUN_NAME: "b/c",
    };
    const inJob = await createCairnTracker(config, { env });
    await inJob.addMetadata("slurm://t/9", { lr: 1 });
    expect(await getRun("slurm://t/9")).toMatchObject({ namespace: "langtech/ddp/wav2vec", name: "b/c" });
    const launcher = await createCairnTracker(config, { env: HOME });
    expect(await launcher.metadata("slurm://t/9")).toEqual(new Map([["lr", 1]]));
    expect(await launcher.runIds({ parentRunId: null })).toEqual(["slurm://t/9"]);
    // A writer outside the job adds to the same run.
    await launcher.addMetadata("slurm://t/9", { verdict: "good" });
    expect((await inJob.metadata("slurm://t/9")).get("verdict")).toBe("good");
    // Other runs are not part of the experiment.
    await inJob.addMetadata("another run", { a: 1 });
    expect((await getRun("another run")).namespace).toBe("langtech/ddp");
    // Variables that are left over in a shell mean nothing outside a job.
    const { TORCHX_JOB_ID: _, ...leftOver } = env;
    await (await createCairnTracker(config, { env: leftOver })).addMetadata("by hand", { a: 1 });
    expect((await getRun("by hand")).namespace).toBe("langtech/ddp");
  });

  it("X6 without a config it is the server of CAIRN_SERVER and the namespace of CAIRN_NAMESPACE", async () => {
    const env = { ...HOME, CAIRN_SERVER: server.url };
    await (await createCairnTracker(null, { env })).addMetadata("no config", { a: 1 });
    expect((await getRun("no config")).namespace).toBe("default");
    const named = await createCairnTracker("", { env: { ...env, CAIRN_NAMESPACE: "by/env" } });
    await named.addMetadata("by env", { a: 1 });
    expect((await getRun("by env")).namespace).toBe("by/env");
    expect(await named.runIds()).toEqual(["by env"]);
    // A tracker made without a namespace reads everything.
    expect(await new CairnTracker(client).runIds()).toEqual(expect.arrayContaining(["no config", "by env"]));
  });

  it("X6 options are those of the Python client; others and secrets are ignored, with a notice", async () => {
    const problems: string[] = [];
    const report = (message: string) => void problems.push(message);
    const config = `${server.url.replace("http://", "")}/options?wait_s=3&spool=/tmp/x&end=0&colour=red&token=secret-7&wait_s=no`;
    const tracker = await createCairnTracker(config, { env: HOME, report });
    await tracker.addMetadata("with options", { a: 1 });
    expect((await getRun("with options")).namespace).toBe("options");
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain('option "colour" of the tracker config is ignored');
    expect(problems[1]).toContain("use CAIRN_TOKEN");
    await createCairnTracker(`${server.url}/x?wait_s=soon`, { env: HOME, report });
    expect(problems[2]).toContain('"soon" is not a number of seconds');
    expect(problems.join()).not.toContain("secret-7");
  });

  it.each([
    ["ftp://h/a", "it is not a URL"],
    ["http://", "it is not a URL"],
    ["http://user:secret@h/a", "use CAIRN_TOKEN"],
    ["http://h/%ff", "percent-encoded"],
  ])("X6 refuses the config %s, and says why", async (config, cause) => {
    await expect(createCairnTracker(config, { env: HOME })).rejects.toThrow(cause);
    await expect(createCairnTracker(config, { env: HOME })).rejects.not.toThrow("secret");
  });

  it("X6 an alias of several runs is an error for readers, and none for writers", async () => {
    await at("twice/a").addMetadata("job", { in: "a" });
    await at("twice/b").addMetadata("job", { in: "b" });
    await expect(at("twice").metadata("job")).rejects.toThrow(/twice\/a|ambiguous|several/);
    const env = { ...HOME, TORCHX_JOB_ID: "job", TORCHX_TRACKING_EXPERIMENT_NAME: "/a/" };
    const inA = await createCairnTracker(`${server.url}/twice`, { env });
    await inA.addMetadata("job", { more: 1 });
    expect(await at("twice/a").metadata("job")).toEqual(
      new Map<string, unknown>([
        ["in", "a"],
        ["more", 1],
      ]),
    );
  });

  it("X8 run ids come in any number and by tag or param", async () => {
    const tracker = at("many");
    const ids = Array.from({ length: 500 }, (_, i) => `job-${i}`);
    await tracker.addMetadata("parent", { kind: "base" });
    for (let i = 0; i < ids.length; i += 50) {
      await Promise.all(
        ids.slice(i, i + 50).map(async (id, j) => {
          await tracker.addMetadata(id, {
            lr: (i + j) % 2 === 0 ? 0.1 : 0.2,
            "optim.name": "adam",
            ok: true,
            'q"\\': "x",
          });
          await tracker.addSource(id, "parent");
        }),
      );
    }
    expect(new Set(await tracker.runIds({ parentRunId: "parent" }))).toEqual(new Set(ids));
    expect(await tracker.runIds()).toHaveLength(501);
    expect(await tracker.runIds({ lr: "0.1", "optim.name": "adam", ok: "true", 'q"\\': "x" })).toHaveLength(
      250,
    );
    expect(await tracker.runIds({ parentRunId: "parent", lr: "0.2" })).toHaveLength(250);
    expect(await tracker.runIds({ lr: "0.3" })).toEqual([]);
    const run = await getRun("job-7", "many");
    await client.runs.updateRun({ run: { id: run.id }, tags: { team: "asr" } });
    expect(await tracker.runIds({ team: "asr", nothing: null })).toEqual(["job-7"]);
  });

  it("X8 sources that became runs later are the runs, and children outside the namespace are not listed", async () => {
    const tracker = at("later");
    await tracker.addSource("child", "base");
    await at("outside").addSource("foreign child", "base");
    await tracker.addMetadata("base", { a: 1 });
    expect((await tracker.sources("child")).map(({ sourceRunId }) => sourceRunId)).toEqual(["base"]);
    expect(await tracker.runIds({ parentRunId: "base" })).toEqual(["child"]);
    expect((await tracker.lineage("child")).ancestors.map(({ runId }) => runId)).toEqual(["base"]);
    // Adding it again, now that it is a run, doubles nothing.
    await tracker.addSource("child", "base");
    expect((await tracker.sources("child")).map(({ sourceRunId }) => sourceRunId)).toEqual(["base"]);
    expect(await tracker.runIds({ parentRunId: "base" })).toEqual(["child"]);
    expect((await tracker.lineage("child")).ancestors.map(({ runId }) => runId)).toEqual(["base"]);
    expect((await tracker.lineage("child")).links).toHaveLength(1);
  });

  it("X8 a lineage names artifacts, and something outside has descendants", async () => {
    const tracker = at("lineage");
    await tracker.addArtifact("base", "weights", "s3://w", { format: "pt" });
    await tracker.addSource("base", "s3://corpus");
    await tracker.addSource("tuned", "base", "weights");
    const lineage = await tracker.lineage("tuned");
    expect(lineage.ancestors[0]).toMatchObject({ runId: "base", distance: 1 });
    expect(lineage.ancestors[0]!.artifacts).toMatchObject([{ name: "weights", path: "s3://w" }]);
    expect((await tracker.lineage("base")).artifacts.get("weights")?.metadata).toEqual(
      new Map([["format", "pt"]]),
    );
    expect(
      (await tracker.lineage("s3://corpus")).descendants.map(({ runId, distance }) => [runId, distance]),
    ).toEqual([
      ["base", 1],
      ["tuned", 2],
    ]);
  });

  it("X9 a purged run is created again by the next write", async () => {
    const tracker = at("purged");
    await tracker.addMetadata("job", { a: 1 });
    const { id } = await getRun("job", "purged");
    await client.runs.deleteRun({ run: { id } });
    await client.runs.purgeRun({ run: { id } });
    await tracker.addMetadata("job", { b: 2 });
    expect(await tracker.metadata("job")).toEqual(new Map([["b", 2]]));
  });

  it("X9 64 ranks that start at once share one run with one link", async () => {
    const env = {
      ...HOME,
      TORCHX_JOB_ID: "ranks",
      TORCHX_PARENT_RUN_ID: "base",
      TORCHX_TRACKERS: "cairn",
      TORCHX_TRACKER_CAIRN_CONFIG: `${server.url}/ranks`,
    };
    const problems: string[] = [];
    const report = (message: string) => void problems.push(message);
    // Each has its own tracker, as in separate processes. The config of the environment reaches it.
    const started = await Promise.all(Array.from({ length: 64 }, () => makeFromEnv({ env, report })));
    expect(problems).toEqual([]);
    expect(await started[0]!.sources()).toMatchObject([{ parent: { id: "base" }, artifactName: null }]);
    expect(await at("ranks").runIds()).toEqual(["ranks"]);
  });
});

describe("CairnTracker without a server", () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }
  });

  it("X9 neither stalls nor ends a job, and reports it once", async () => {
    const problems: string[] = [];
    const report = (message: string) => void problems.push(message);
    const tracker = new CairnTracker(new Cairn({ url: "http://127.0.0.1:1" }), { timeoutMs: 500, report });
    const run = new AppRun("job", [tracker], report);
    await run.addSource("parent");
    for (let i = 0; i < 20; i++) await run.addMetadata({ i });
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/cannot add source "parent".*cannot reach http:\/\/127\.0\.0\.1:1/);
    expect(problems[1]).toMatch(/cannot add metadata of run "job" in CairnTracker: cannot reach/);
    expect(run.failedWrites).toBe(20);
    await expect(run.sources()).rejects.toThrow("cannot reach");
  });

  it("X9 gives up on one that never answers, and tries again on one that is busy", async () => {
    let calls = 0;
    const server = createServer((_request, response) => {
      calls++;
      if (calls === 2) {
        response.writeHead(503, { "content-type": "application/json" });
        response.end('{"code":"unavailable","message":"restarting"}');
      }
    });
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const tracker = new CairnTracker(new Cairn({ url: `http://127.0.0.1:${port}` }), { timeoutMs: 2_000 });
    await expect(tracker.metadata("job")).rejects.toThrow();
    expect(calls).toBe(1);
    const fresh = new CairnTracker(new Cairn({ url: `http://127.0.0.1:${port}` }), { timeoutMs: 5_000 });
    await expect(fresh.metadata("job")).rejects.toThrow();
    expect(calls).toBe(3);
  });

  it("X9 reports the error when the answer is garbage", async () => {
    const server = createServer((_request, response) => response.end("<html>hello</html>"));
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const problems: string[] = [];
    const tracker = new CairnTracker(new Cairn({ url: `http://127.0.0.1:${port}` }), { timeoutMs: 8_000 });
    const run = new AppRun("job", [tracker], (message) => void problems.push(message));
    await run.addMetadata({ a: 1 });
    expect(problems).toHaveLength(1);
    expect(run.failedWrites).toBe(1);
  });
});
