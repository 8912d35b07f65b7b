import { beforeAll, describe, expect, it } from "vitest";
import { TrackedChanges } from "#proto/cairn/v1/run_pb.ts";
import { useTerminal } from "./testing/cairn.ts";
import { createRun, makeSampleRuns } from "./testing/sample-runs.ts";

describe("cairn diff", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  beforeAll(async () => {
    await makeSampleRuns(terminal.client);
  });

  it("T26 shows the differences between two runs, and which is better", async () => {
    const { code, stdout } = await cairn(["diff", "tuned", "wider"], { env: { COLUMNS: "80" } });
    expect(stdout).toContain(
      "\nParams  2 of 7 differ\n          A    B\n  warmup  100  400\n  width   —    1024\n",
    );
    expect(stdout).toMatch(/\n {2}commit +1f0c2a91b3de +77aa00112233\n/);
    expect(stdout).toContain(
      "    -+    loss = model(batch).mean()\n    ++    loss = model(batch).sum() / len(batch)\n",
    );
    expect(stdout).toContain("  B  python train.py --lr 0.01 --width 1024\n");
    expect(stdout).toContain("  einops  —      0.8.0\n  numpy   2.1.0  —\n  torch   2.6.0  2.7.1\n");
    expect(stdout).toContain("  host  node-17  node-18\n");
    expect(stdout).toMatch(/ {2}val\/acc {5}last {2}0\.9088 {2}0\.8788 {2}▼ -0\.02996 {2}-3\.3 % worse\n/);
    expect(stdout).toMatch(/ {2}train\/loss {2}last {2}0\.1038 {2}0\.1338 +▲ \+0\.03 {2}\+28\.9 % worse\n/);
    expect((await cairn(["diff", "wider", "tuned"])).stdout).toMatch(
      /val\/acc +last .* ▲ \+0\.02996 .* better\n/,
    );
    expect(stdout).not.toContain("optim.name");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(code).toBe(0);
  });

  it("T263 shows data with its versions in full, study, user, and what is known of the work trees", async () => {
    const commit = "4f2a91c0de77aa00112233445566778899aabbcc";
    const location = "s3://corpora/a-rather-long-name-of-a-corpus-that-would-be-cut";
    const origin = (version: string, clean: boolean) => ({
      trainingData: [`${location}@${version}`, "s3://wiki"],
      study: `study-${version}`,
      user: clean ? "ada" : "bob",
      code: {
        commit,
        trackedChanges: clean ? TrackedChanges.NONE : TrackedChanges.UNSPECIFIED,
        ...(clean
          ? { untrackedFiles: 0, changedSubmodules: 0 }
          : { patchLeftOut: "git took longer than 500 ms" }),
      },
    });
    await createRun(terminal.client, { name: "data-1", provenance: origin("v3", true) });
    await createRun(terminal.client, { name: "data-2", provenance: origin("v4", false) });
    const { stdout } = await cairn(["diff", "data-1", "data-2"], { env: { COLUMNS: "80" } });
    expect(stdout).toContain(
      `  training data\n    A  ${location}@v3\n       s3://wiki\n    B  ${location}@v4\n       s3://wiki\n`,
    );
    expect(stdout).toMatch(/\n {2}study +study-v3 +study-v4\n/);
    expect(stdout).toMatch(/\n {2}user +ada +bob\n/);
    expect(stdout).toMatch(/\n {2}work tree +clean +unknown: git took longer than 500 ms\n/);
  });

  it("T26 shortens commits, and no other value of that name", async () => {
    const name = "a-long-name-of-a-commit";
    for (const i of [1, 2]) {
      await createRun(terminal.client, { name: `named-${i}`, params: { commit: JSON.stringify(name + i) } });
    }
    expect((await cairn(["diff", "named-1", "named-2"])).stdout).toContain(`commit  ${name}1  ${name}2\n`);
  });

  it("T26 shows everything with --all, and more runs as columns", async () => {
    const { stdout } = await cairn(["diff", "base", "tuned", "wider", "--all"]);
    expect(stdout).toMatch(/\n {2}optim\.name +sgd +adam +adam\n/);
    expect(stdout).toMatch(/\n {2}seed +1 +1 +1\n/);
    expect(stdout).toMatch(/\n {2}val\/acc +last +0\.6991 +0\.9088 +0\.8788\n +min +0 +0 +0\n +max /);
  });

  it("T27 shows by its exit code whether they differ", async () => {
    const twin = { namespace: "twins", params: { lr: "0.1" } };
    await createRun(terminal.client, { ...twin, name: "one" });
    await createRun(terminal.client, { ...twin, name: "two", params: { lr: "1e-1" } });
    await createRun(terminal.client, { ...twin, name: "three", params: { lr: "0.2" } });
    expect(await cairn(["diff", "one", "two", "--exit-code"])).toMatchObject({ code: 0 });
    expect((await cairn(["diff", "one", "two"])).stdout).toContain("the same: params");
    expect(await cairn(["diff", "one", "three", "--exit-code"])).toMatchObject({ code: 1, stderr: "" });
    expect(await cairn(["diff", "one", "three"])).toMatchObject({ code: 0 });
    expect(await cairn(["diff", "one"])).toMatchObject({ code: 2, stdout: "" });
    expect(await cairn(["diff", "one", "nobody"])).toMatchObject({ code: 3, stdout: "" });
  });

  it("T1 gives the differences with --json", async () => {
    expect((await cairn(["diff", "tuned", "wider", "--json"])).json()).toMatchObject({
      differs: true,
      runs: [{ name: "tuned" }, { name: "wider" }],
      params: [
        { key: "warmup", values: ["100", "400"] },
        { key: "width", values: [null, "1024"] },
      ],
      packages: [{ key: "einops" }, { key: "numpy" }, { key: "torch", values: ["2.6.0", "2.7.1"] }],
      patches: [{ how: "between", moreLines: 0 }],
      metricsTruncated: false,
      metrics: expect.arrayContaining([
        expect.objectContaining({ key: "val/acc", stat: "last", direction: "maximize", verdict: "worse" }),
      ]) as unknown,
    });
  });
});
