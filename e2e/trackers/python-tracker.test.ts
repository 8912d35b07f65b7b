import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCairnTracker, type CairnTracker } from "#sdk/tracker/cairn/cairn-tracker.ts";
import { createResultTracker } from "#sdk/tracker/result-tracker.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { pythonCommand } from "../../tools/needs.ts";

const SCRIPT = fileURLToPath(new URL("python_tracker.py", import.meta.url));
const PYTHON_MS_MAX = 120_000;
const NAMES = ["model", "/absolute", "..", "a//b", "C:\\model", "new\nline", "", "é".repeat(600)];
const LONG_ID = "l".repeat(1_500);

describe("the trackers of both languages", () => {
  let server: ChildServer;
  let home: string;
  beforeAll(async () => {
    server = await startChild(["--data", "memory:"]);
    home = await mkdtemp(join(tmpdir(), "cairn-python-"));
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    await rm(home, { recursive: true, force: true });
  });

  async function python(namespace: string, action: string): Promise<string> {
    const child = spawn(pythonCommand(), [SCRIPT, `${server.url}/${namespace}`, action], {
      env: { PATH: process.env["PATH"], HOME: home, PYTHONUTF8: "1" },
      timeout: PYTHON_MS_MAX,
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const [code] = (await once(child, "close")) as [number | null];
    expect(code, stderr).toBe(0);
    expect(stderr).toBe("");
    return stdout;
  }
  const typescript = (namespace: string): Promise<CairnTracker> =>
    createCairnTracker(`${server.url}/${namespace}`, { env: { HOME: home } });
  const results = (namespace: string) =>
    createResultTracker(`${server.url}/${namespace}/results-of-both`, { env: { HOME: home } });

  it("X5 reads what Python wrote with the same values", async () => {
    await python("from-python", "write");
    const tracker = await typescript("from-python");
    expect(await tracker.metadata("by python")).toEqual(
      new Map<string, unknown>([
        ["big", 2n ** 60n],
        ["integer", 1],
        ["nested", { a: [true] }],
        ["nothing", null],
        ["text", "1"],
        ["whole", 1],
      ]),
    );
    expect(await tracker.metadata(LONG_ID)).toEqual(new Map([["x", 1]]));
    expect(await tracker.runIds()).toEqual(expect.arrayContaining(["by python", LONG_ID]));
    const artifacts = await tracker.artifacts("by python");
    for (const name of NAMES.slice(0, -1))
      expect(artifacts.get(name)?.metadata).toEqual(new Map([["of", name]]));
    expect(artifacts.size).toBe(NAMES.length + 1);
    expect(artifacts.get("empty")).toEqual({ name: "empty", path: "", metadata: new Map() });
    expect(await tracker.sources("by python")).toEqual([
      { sourceRunId: "base", artifactName: "weights" },
      { sourceRunId: "s3://corpus", artifactName: null },
    ]);
    expect(await tracker.runIds({ parentRunId: "by python" })).toEqual([LONG_ID]);
    const records = await results("from-python");
    expect(await records.get("0")).toEqual(
      new Map([
        ["n", 3],
        ["wer", 0.25],
      ]),
    );
    const file = await records.getFile("curve.txt");
    expect(file && Buffer.from(file.content).toString()).toBe("from python");
  });

  it("X5 Python reads what TypeScript wrote with the same values", async () => {
    const tracker = await typescript("from-typescript");
    await tracker.addMetadata("by typescript", {
      integer: 1,
      half: 0.5,
      big: 2n ** 60n,
      text: "1",
      nested: { a: [true, null] },
    });
    await tracker.addMetadata(LONG_ID, { x: 1 });
    for (const name of NAMES.slice(0, -1))
      await tracker.addArtifact("by typescript", name, `path of ${name}`, { of: name });
    await tracker.addSource("by typescript", "base", "weights");
    await tracker.addSource(LONG_ID, "by typescript");
    const records = await results("from-typescript");
    await records.put(0, { wer: 0.25, n: 3 });
    await records.putFile("curve.txt", "from typescript", { mediaType: "text/plain" });
    const read = JSON.parse(await python("from-typescript", "read")) as Record<string, unknown>;
    expect(read).toMatchObject({
      metadata: { integer: 1, half: 0.5, text: "1", nested: { a: [true, null] } },
      long: { x: 1 },
      sources: [["base", "weights"]],
      children: [LONG_ID],
      ancestors: ["base"],
      record: { wer: 0.25, n: 3 },
    });
    expect(read["ids"]).toEqual(expect.arrayContaining(["by typescript", LONG_ID]));
    const theirs = read["artifacts"] as [string, string, object][];
    expect(new Map(theirs.map(([name, path]) => [name, path]))).toEqual(
      new Map(NAMES.slice(0, -1).map((name) => [name, `path of ${name}`])),
    );
    expect((read["file"] as string[])[0]).toBe("from typescript");
  });
});
