import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { trackerConformance } from "#sdk/tracker/conformance.ts";
import { MLflowRest } from "#sdk/tracker/mlflow/mlflow-rest.ts";
import { MLflowTracker } from "#sdk/tracker/mlflow/mlflow-tracker.ts";
import type { MLflowRun } from "#sdk/tracker/mlflow/mlflow-types.ts";
import { pythonCommand } from "../../tools/needs.ts";
import { startMLflow, type MLflowServer } from "./mlflow-server.ts";

const SCRIPT = fileURLToPath(new URL("mlflow_tracker.py", import.meta.url));
const MIB = 2 ** 20;

let server: MLflowServer;
let torchx: TorchxTracker;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "cairn-mlflow-files-"));
  torchx = new TorchxTracker(folder);
  server = await startMLflow();
});
afterAll(async () => {
  await torchx?.stop();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

let experiments = 0;
function newTracker(experiment = `experiment-${++experiments}`): MLflowTracker {
  return new MLflowTracker(experiment, server.url);
}

/** TorchX's own tracker, in a process that answers one question after another. */
class TorchxTracker {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  #complaints = "";

  constructor(home: string) {
    this.#child = spawn(pythonCommand(), [SCRIPT], {
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        USER: process.env["USER"],
        LOGNAME: process.env["LOGNAME"],
      },
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#complaints += text));
    this.#child.stdin.on("error", () => {});
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async ask<T>(...words: string[]): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(words)}\n`);
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error(`python has ended: ${this.#complaints}`);
    return JSON.parse(value) as T;
  }

  async stop(): Promise<void> {
    const isOver = this.#child.exitCode !== null || this.#child.signalCode !== null;
    const exited = isOver ? undefined : once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, content);
  return path;
}

/** The content at an address that a tracker reported. */
async function download(address: string): Promise<Buffer> {
  const path = address.replace(/^mlflow-artifacts:\//, "");
  const response = await fetch(`${server.url}/api/2.0/mlflow-artifacts/artifacts/${path}`, {
    signal: AbortSignal.timeout(60_000),
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function runOf(tracker: MLflowTracker, name: string): Promise<MLflowRun> {
  const rest = new MLflowRest(server.url);
  const { experiment_id: id } = await tracker.experiment();
  for await (const run of rest.pages<MLflowRun>("runs/search", { experiment_ids: [id] }, "runs")) {
    if (run.info.run_name === name) return run;
  }
  throw new Error(`there is no run "${name}"`);
}

describe("MLflowTracker", () => {
  trackerConformance({
    test: (title, body) => it(`X29 ${title}`, body),
    makeTracker: () => newTracker("conformance"),
    // MLflow has texts alone, and takes 250 characters for a name.
    lacks: ["typed metadata", "any run id"],
  });

  it("X27 names its experiment as TorchX does", async () => {
    expect(await MLflowTracker.defaultExperimentName()).toBe(await torchx.ask("name"));
    const tracker = new MLflowTracker(null, server.url);
    expect((await tracker.experiment()).name).toBe(await MLflowTracker.defaultExperimentName());
  });

  it("X27 uses an existing experiment, and refuses a deleted one", async () => {
    const rest = new MLflowRest(server.url);
    const made = await rest.call<{ experiment_id: string }>("experiments/create", { name: "existing" });
    expect((await newTracker("existing").experiment()).experiment_id).toBe(made.experiment_id);
    await rest.call("experiments/delete", made);
    await expect(newTracker("existing").experiment()).rejects.toThrow(
      'cannot use experiment "existing": it was deleted',
    );
  });

  it("X28 a name is one run, for this tracker and the next, until it is closed and afterwards", async () => {
    const tracker = newTracker("reopened");
    const id = await tracker.getRunId("local_cwd://torchx/x");
    expect(await tracker.getRunId("local_cwd://torchx/x")).toBe(id);
    expect((await tracker.getRun("local_cwd://torchx/x")).info.status).toBe("RUNNING");
    expect(await tracker.getRunId("local_cwd://torchx/y")).not.toBe(id);
    await tracker.close();
    expect((await runOf(tracker, "local_cwd://torchx/x")).info).toMatchObject({ status: "FINISHED" });
    const second = newTracker("reopened");
    expect(await second.getRunId("local_cwd://torchx/x")).toBe(id);
    expect((await runOf(tracker, "local_cwd://torchx/x")).info).toMatchObject({ status: "RUNNING" });
    await second.close("FAILED");
    expect((await runOf(tracker, "local_cwd://torchx/x")).info).toMatchObject({ status: "FAILED" });
    expect((await runOf(tracker, "local_cwd://torchx/y")).info).toMatchObject({ status: "FINISHED" });
  });

  it("X28 reading makes no run", async () => {
    const tracker = newTracker();
    expect((await tracker.metadata("never")).size).toBe(0);
    expect((await tracker.artifacts("never")).size).toBe(0);
    expect(await tracker.sources("never")).toEqual([]);
    expect((await tracker.lineage("never")).ancestors).toEqual([]);
    expect(await tracker.runIds()).toEqual([]);
  });

  it("X29 metadata become texts, merged per key", async () => {
    const tracker = newTracker();
    await tracker.addMetadata("r", { text: "1", one: 1, big: 2n ** 64n, yes: true, none: null, nan: NaN });
    await tracker.addMetadata("r", { one: 2.5, list: [1, "a"], "with.dot/and slash": "ü" });
    expect(Object.fromEntries(await tracker.metadata("r"))).toEqual({
      text: "1",
      one: "2.5",
      big: "18446744073709551616",
      yes: "true",
      none: "null",
      nan: "NaN",
      list: '[1, "a"]',
      "with.dot/and slash": "ü",
    });
    const many = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`key-${i}`, i]));
    await tracker.addMetadata("many", many);
    expect((await tracker.metadata("many")).size).toBe(250);
  });

  it("X29 refuses what MLflow would cut or mix up, before it makes a run", async () => {
    const tracker = newTracker();
    await expect(tracker.addMetadata("r", { long: "x".repeat(8_001) })).rejects.toThrow(
      'cannot add metadata "long": it has 8001 characters, and MLflow would cut it at 8000',
    );
    await expect(tracker.addMetadata("r", { ["k".repeat(251)]: 1 })).rejects.toThrow(
      "its key has 251 characters",
    );
    await expect(tracker.addMetadata("r", { "mlflow.user": "me" })).rejects.toThrow(
      '"mlflow." are not for metadata',
    );
    await expect(tracker.logParamsFlat("r", { long: "x".repeat(6_001) })).rejects.toThrow(
      "MLflow would cut it",
    );
    expect(await tracker.runIds()).toEqual([]);
    await tracker.addMetadata("r", { long: "x".repeat(8_000) });
    expect((await tracker.metadata("r")).get("long")).toHaveLength(8_000);
  });

  it("X30 uploads files and says where they are, with sizes and metadata", async () => {
    const tracker = newTracker();
    const names = [
      "model",
      "nested/model",
      "nested/deeper/model",
      "a.b",
      "a",
      "with space",
      "empty",
      "ümlaut",
      "last",
    ];
    for (const [i, name] of names.entries()) {
      const content = name === "empty" ? "" : `content of ${name}`;
      const path = await file(`upload-${i}/weights ${i}.bin`, content);
      await tracker.addArtifact("r", name, path, { index: i, "k.v": name });
    }
    const artifacts = await tracker.artifacts("r");
    expect([...artifacts.keys()].toSorted()).toEqual(names.toSorted());
    const { artifact_uri: root } = (await tracker.getRun("r")).info;
    for (const [i, name] of names.entries()) {
      const { path, metadata } = artifacts.get(name)!;
      const size = name === "empty" ? 0 : Buffer.byteLength(`content of ${name}`);
      expect(path).toBe(`${root}/${name}/weights ${i}.bin`);
      expect(Object.fromEntries(metadata!)).toEqual({
        index: String(i),
        "k.v": name,
        "mlflow.file_size": size,
      });
      expect((await download(path)).toString()).toBe(size === 0 ? "" : `content of ${name}`);
    }
  });

  it("X30 a large file and a folder arrive byte for byte", async () => {
    const tracker = newTracker();
    const bytes = randomBytes(24 * MIB);
    await tracker.addArtifact("r", "large", await file("large.bin", bytes));
    await file("folder/a.txt", "a");
    await file("folder/sub/b.txt", "b");
    await tracker.addArtifact("r", "folder", join(folder, "folder"));
    const artifacts = await tracker.artifacts("r");
    const digest = (content: Buffer) => createHash("sha256").update(content).digest("hex");
    expect(digest(await download(artifacts.get("large")!.path))).toBe(digest(bytes));
    expect([...artifacts.keys()].toSorted()).toEqual(["folder", "large"]);
    expect((await download(`${artifacts.get("folder")!.path}/sub/b.txt`)).toString()).toBe("b");
  });

  it("X30 an artifact of the same name is replaced, with its metadata", async () => {
    const tracker = newTracker();
    await tracker.addArtifact("r", "m", await file("one.txt", "1"), { only: "first", both: 1 });
    await tracker.addArtifact("r", "m", await file("two.txt", "22"), { both: 2 });
    const { path, metadata } = (await tracker.artifacts("r")).get("m")!;
    expect(path).toMatch(/\/m\/two\.txt$/);
    expect(Object.fromEntries(metadata!)).toEqual({ both: "2", "mlflow.file_size": 2 });
    await tracker.addArtifact("r", "m", "s3://bucket/elsewhere");
    expect((await tracker.artifacts("r")).get("m")).toMatchObject({
      path: "s3://bucket/elsewhere",
      metadata: null,
    });
    await expect(tracker.addArtifact("r", "../up", await file("x", "x"))).rejects.toThrow(
      "not a relative path",
    );
  });

  it("X31 links and lineage are there for every other client", async () => {
    const tracker = newTracker("family");
    await tracker.addArtifact("base", "weights", "s3://w");
    await tracker.addSource("tuned", "base", "weights");
    await tracker.addSource("tuned", "base", "weights");
    await tracker.addSource("tuned", "base");
    await tracker.addSource("tuned", 'it\'s "quoted" \\ elsewhere');
    await tracker.addSource("served", "tuned");
    const other = newTracker("family");
    expect((await other.sources("tuned")).map((link) => [link.sourceRunId, link.artifactName])).toEqual([
      ["base", "weights"],
      ["base", null],
      ['it\'s "quoted" \\ elsewhere', null],
    ]);
    expect(await other.runIds({ parentRunId: "base" })).toEqual(["tuned"]);
    expect(await other.runIds({ parentRunId: 'it\'s "quoted" \\ elsewhere' })).toEqual(["tuned"]);
    expect(await other.runIds({ parentRunId: "bas" })).toEqual([]);
    const lineage = await other.lineage("tuned");
    expect(lineage.ancestors.map(({ runId }) => runId)).toContain("base");
    expect(lineage.descendants.map(({ runId }) => runId)).toEqual(["served"]);
    expect(lineage.ancestors.find(({ runId }) => runId === "base")!.artifacts).toMatchObject([
      { path: "s3://w" },
    ]);
  });

  it("X31 run names with quotes and backslashes are found", async () => {
    const tracker = newTracker("quotes");
    for (const name of ["it's", 'say "x"', "back\\slash", "50%", "a`b"]) {
      const id = await tracker.getRunId(name);
      expect(await newTracker("quotes").getRunId(name)).toBe(id);
    }
  });

  it("X32 logs the params of the documented example", async () => {
    class Config2 {
      foo: string;
      constructor(foo = "bar") {
        this.foo = foo;
      }
    }
    const tracker = newTracker();
    await tracker.logParamsFlat("r", {
      i: 1,
      f: 2.1,
      s: "string",
      l: ["a", "b", "c"],
      cfg_list: [new Config2("hello"), new Config2("world")],
      cfg2: new Config2(),
    });
    const params = (await tracker.getRun("r")).data.params!;
    expect(Object.fromEntries(params.map(({ key, value }) => [key, value]))).toEqual({
      i: "1",
      f: "2.1",
      s: "string",
      l: '["a", "b", "c"]',
      "cfg_list._0.foo": "hello",
      "cfg_list._1.foo": "world",
      "cfg2.foo": "bar",
    });
    await expect(tracker.logParamsFlat("r", { i: 2 })).rejects.toThrow(
      'cannot log params of run "r": MLflow refuses',
    );
  });

  it("X33 run ids come from all pages, and by tag or param", async () => {
    const tracker = newTracker();
    const names = Array.from({ length: 10 }, (_, i) => `run-${i}`);
    for (const [i, name] of names.entries()) await tracker.addMetadata(name, { team: i < 3 ? "asr" : "mt" });
    await tracker.logParamsFlat("run-7", { team: "asr" });
    expect(await tracker.runIds()).toEqual(names);
    expect(await tracker.runIds({ team: "asr" })).toEqual(["run-0", "run-1", "run-2", "run-7"]);
    const { experiment_id: id } = await tracker.experiment();
    const pages = new MLflowRest(server.url).pages<MLflowRun>(
      "runs/search",
      { experiment_ids: [id], max_results: 3 },
      "runs",
    );
    const seen: string[] = [];
    for await (const run of pages) seen.push(run.info.run_name);
    expect(seen.toSorted()).toEqual(names);
  });

  it("X34 reads what TorchX's own tracker writes, and the other way round", async () => {
    const experiment = "shared";
    await torchx.ask("write", server.url, experiment, "theirs", await file("theirs.txt", "theirs"));
    const tracker = newTracker(experiment);
    expect(Object.fromEntries(await tracker.metadata("theirs"))).toEqual({
      lr: "0.01",
      steps: "25",
      name: "adam",
    });
    const theirs = (await tracker.artifacts("theirs")).get("nested/model")!;
    expect(Object.fromEntries(theirs.metadata!)).toEqual({ acc: "0.5", note: "x", "mlflow.file_size": 6 });
    expect((await download(theirs.path)).toString()).toBe("theirs");
    expect(await tracker.runIds({ "optim.lr": "0.1" })).toEqual(["theirs"]);

    await tracker.addMetadata("ours", { lr: 0.5 });
    await tracker.addArtifact("ours", "model", await file("ours.txt", "ours!"), { acc: 1 });
    await tracker.close();
    const seen = await torchx.ask<{
      id: string;
      metadata: Record<string, string>;
      artifacts: Record<string, { metadata: Record<string, unknown> }>;
      runs: string[];
    }>("read", server.url, experiment, "ours");
    expect(seen.id).toBe(await tracker.getRunId("ours"));
    expect(seen.metadata["lr"]).toBe("0.5");
    expect(seen.artifacts["model"]!.metadata).toEqual({ acc: "1", "mlflow.file_size": 5 });
    expect(seen.runs.toSorted()).toEqual(["ours", "theirs"]);
  });
});
