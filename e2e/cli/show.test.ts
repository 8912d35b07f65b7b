import { beforeAll, describe, expect, it } from "vitest";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CodeSchema } from "#proto/cairn/v1/run_pb.ts";
import { inParallel } from "#base/in-parallel.ts";
import { useTerminal } from "./testing/cairn.ts";
import { createRun, makeSampleRuns, writeEnvelope, type SampleRuns } from "./testing/sample-runs.ts";

describe("cairn show", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  let sample: SampleRuns;
  beforeAll(async () => {
    sample = await makeSampleRuns(terminal.client);
  });

  it("T24 explains a run on one screen", async () => {
    const { code, stdout } = await cairn(["show", "tuned"], { env: { COLUMNS: "100" } });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("tuned  ✓ finished  langtech/asr");
    expect(lines[1]).toBe(`id       ${sample.tuned.id}`);
    expect(lines).toContain("alias    job-7");
    expect(lines).toContain("command  python train.py --lr 0.01");
    expect(lines).toContain("tags     best=yes  team=asr");
    expect(stdout).toContain("\nParams\n  lr      0.01\n  optim\n    betas  [0.9, 0.999]\n    name   adam\n");
    expect(stdout).toMatch(/\n {2}★ val\/acc {5}0\.9088 +0 +@0 +0\.9088 +@199 +200 +▁[▁▂▃▄▅▆▇█]{39}\n/);
    expect(stdout).toMatch(/\n {4}train\/loss +0\.1038 +0\.1038 +@199 +2\.09 +@0 +200 +█/);
    expect(stdout).toContain(
      `\nSources\n  model.pt ← base  ${sample.base.id.slice(0, 16)}\n  s3://data/librispeech\n`,
    );
    expect(stdout).toContain("code        1f0c2a91b3 on main, dirty (+1 -1 in ");
    expect(stdout).toContain("machine     node-17 · 2 × H100");
    expect(lines.length).toBeLessThanOrEqual(40);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
    expect(code).toBe(0);
  });

  it("T253 says what is known of the work tree, and never clean for what is unknown", async () => {
    const cases: [name: string, code: MessageInitShape<typeof CodeSchema>, words: string][] = [
      ["clean", { trackedChanges: 1, untrackedFiles: 0, changedSubmodules: 0 }, "clean"],
      ["old", {}, "unknown: state not recorded"],
      [
        "big",
        {
          trackedChanges: 2,
          untrackedFiles: 0,
          changedSubmodules: 0,
          patchLeftOut: "it has more than 1 MiB",
          leftOutBytes: 2_202_010n,
        },
        "dirty, patch left out (2.1 MiB)",
      ],
      ["untracked", { trackedChanges: 1, untrackedFiles: 3, changedSubmodules: 0 }, "3 untracked files"],
      ["slow", { patchLeftOut: "git took longer than 500 ms" }, "unknown: git took longer than 500 ms"],
    ];
    for (const [name, code, words] of cases) {
      const provenance = { code: { commit: "4f2a91c0", branch: "main", ...code } };
      await createRun(terminal.client, { name: `tree-${name}`, provenance });
      const { stdout } = await cairn(["show", `tree-${name}`]);
      expect(stdout, name).toContain(`code  4f2a91c0 on main, ${words}\n`);
      const full = await cairn(["show", `tree-${name}`, "--provenance"]);
      expect(full.stdout, name).toMatch(new RegExp(`state +${words.replaceAll(/[()]/g, "\\$&")}\n`));
      expect((await cairn(["show", `tree-${name}`, "--json"])).json()).toMatchObject({
        provenance: { code: { state: words } },
      });
      if (name !== "clean") expect(stdout + full.stdout).not.toContain("clean");
    }
    const json = (await cairn(["show", "tree-old", "--json"])).json();
    expect(json).toMatchObject({
      provenance: { code: { trackedChanges: null, untrackedFiles: null, patchLeftOut: null } },
    });
  });

  it("T253 shows data with versions, features, study, user and where logs are", async () => {
    const digest = `sha256:${"0a1b2c3d".repeat(8)}`;
    await createRun(terminal.client, {
      name: "sourced",
      provenance: {
        trainingData: ["s3://data/c4@v3", `s3://data/wiki@${digest}`],
        testData: ["s3://data/dev"],
        initialState: "hf://bert@main",
        featurePipeline: "git@example.org:f.git@4f2a91c",
        study: "ablation",
        logsLocation: "https://logs.example.org/7",
        user: "adal",
        environment: { "note:code": "a later process ran other code, commit 77aa0011" },
      },
    });
    const { stdout } = await cairn(["show", "sourced"]);
    expect(stdout).toContain("trained on  s3://data/c4@v3  s3://data/wiki@sha256:0a1b2c3d0a1b…\n");
    for (const line of [
      "tested on   s3://data/dev",
      "began from  hf://bert@main",
      "features    git@example.org:f.git@4f2a91c",
      "study       ablation",
      "logs        https://logs.example.org/7",
      "user        adal",
      "            a later process ran other code, commit 77aa0011",
    ]) {
      expect(stdout).toContain(`  ${line}\n`);
    }
    const full = (await cairn(["show", "sourced", "--provenance"])).stdout;
    expect(full).toContain(`s3://data/wiki@${digest}`);
    expect(full).toMatch(/logs location +https:\/\/logs.example.org\/7\n/);
    expect((await cairn(["show", "sourced", "--json"])).json()).toMatchObject({
      provenance: { logsLocation: "https://logs.example.org/7", user: "adal", study: "ablation" },
    });
  });

  it("T24 shows the last lines only of a failed run", async () => {
    const { stdout } = await cairn(["show", "diverged"]);
    expect(stdout).toMatch(/\nLast lines\n {2}epoch 2\n[^]*\n {2}RuntimeError: loss is NaN\n/);
    expect(stdout).not.toContain("epoch 1");
    expect((await cairn(["show", "base"])).stdout).not.toContain("Last lines");
  });

  it("T24 shows single parts in full", async () => {
    const params = await cairn(["show", "tuned", "--params"]);
    expect(params.stdout).toContain("Params");
    expect(params.stdout).not.toContain("Metrics");
    const metrics = await cairn(["show", "tuned", "--metrics", "train/*"]);
    expect(metrics.stdout).toContain("train/loss");
    expect(metrics.stdout).not.toContain("val/acc");
    const provenance = await cairn(["show", "tuned", "--provenance"]);
    expect(provenance.stdout).toContain("package:torch  2.6.0");
    expect(provenance.stdout).toContain("  +    loss = model(batch).mean()");
  });

  it("T24 fits a screen also for a run with a lot of everything, and says how to see the rest", async () => {
    const run = await createRun(terminal.client, {
      name: "huge",
      params: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`p${i}`, String(i)])),
    });
    await writeEnvelope(terminal.client, run, {
      series: Array.from({ length: 500 }, (_, i) => ({
        key: i < 250 ? `system/m${i}` : `m${i}`,
        labels: { rank: "0" },
        steps: [1n],
        values: [i],
      })),
      artifacts: Array.from({ length: 50 }, (_, i) => ({ name: `a${i}`, uri: `s3://x/${i}` })),
    });
    const { stdout } = await cairn(["show", "huge"]);
    expect(stdout.split("\n").length).toBeLessThan(50);
    expect(stdout).toContain("… 286 more lines; --params shows all");
    // As many digits as distinguish runs of one millisecond.
    expect(stdout).toContain(`\`cairn artifacts ls ${run.id.slice(0, 16)}\` lists all`);
    expect(stdout).toContain("Metrics  500, 250 of them system/\n");
    expect(stdout).toContain("… 490 more; --metrics '**' shows all");
    expect(stdout).toContain("m250{rank=0}");
    expect(stdout).toContain("… 45 more; `cairn artifacts ls");
    expect((await cairn(["show", "huge", "--params"])).stdout.split("\n").length).toBeGreaterThan(300);
    expect((await cairn(["show", "huge", "--metrics", "**"])).stdout).toContain("system/m249");
  });

  it("T1, T24: shows all of a run with very many metrics, artifacts and sources with --json", async () => {
    const { client } = terminal;
    const run = await createRun(client, { name: "vast" });
    const series = Array.from({ length: 20_100 }, (_, i) => ({ key: `m${i}`, steps: [1n], values: [i] }));
    await writeEnvelope(client, run, { series });
    for (const part of [0, 1]) {
      const name = (i: number) => `a${part}-${i}`;
      await writeEnvelope(client, run, {
        artifacts: Array.from({ length: 600 }, (_, i) => ({ name: name(i), uri: `s3://x/${i}` })),
      });
    }
    const ids = Array.from({ length: 1_100 }, (_, i) => `s3://data/${i}`);
    await inParallel(ids, 8, (id) => client.lineage.addSource({ run: { id: run.id }, source: { id } }));
    const shown = (await cairn(["show", "vast", "--json"])).json() as Record<string, unknown[]>;
    expect(shown["series"]).toHaveLength(20_100);
    expect(shown).toMatchObject({ seriesCount: 20_100 });
    expect(shown["artifacts"]).toHaveLength(1_200);
    expect(shown["sources"]).toHaveLength(1_100);
    const { stdout } = await cairn(["show", "vast"]);
    expect(stdout).toContain("Metrics  20,100\n");
    expect(stdout).toContain("… 995 more or more; `cairn artifacts ls");
    expect(stdout).toContain("… 1,095 more lines; `cairn lineage");
  });

  it("T24 shows ranks as one row, and each when asked", async () => {
    const run = await createRun(terminal.client, { name: "ranked" });
    await writeEnvelope(terminal.client, run, {
      series: Array.from({ length: 8 }, (_, rank) => ({
        key: "perf/step",
        labels: { rank: String(rank) },
        steps: [1n, 2n],
        values: [9 - rank, 1 + rank / 10],
      })),
    });
    expect((await cairn(["show", "ranked"])).stdout).toMatch(
      /\n {2}perf\/step ×8 {2}1…1\.7 +1 +@2 +9 +@1 +16\n/,
    );
    const { stdout } = await cairn(["show", "ranked", "--metrics", "**"]);
    expect(stdout.match(/perf\/step\{rank=\d\}/g)).toHaveLength(8);
  });

  it("T25 shows a spike of a single point in a sparkline of thousands", async () => {
    const run = await createRun(terminal.client, { name: "spiky" });
    const steps = Array.from({ length: 5_000 }, (_, i) => BigInt(i));
    const values = steps.map((step) => (step === 3_210n ? 50 : 1 + (Number(step) % 7) / 100));
    await writeEnvelope(terminal.client, run, { series: [{ key: "loss", steps, values }] });
    const { stdout } = await cairn(["show", "spiky"], { env: { COLUMNS: "100" } });
    const spark = /5,000 {2}(\S+)/.exec(stdout)?.[1] ?? "";
    expect(spark).toMatch(/^▁{25}█▁{14}$/);
  });

  it("T1 gives everything with --json", async () => {
    expect((await cairn(["show", "job-7", "--json"])).json()).toMatchObject({
      id: sample.tuned.id,
      params: { optim: { betas: [0.9, 0.999] } },
      series: [
        { key: "val/acc", kind: "number", count: 200 },
        { key: "train/loss", min: { step: 199 }, max: { step: 0 } },
      ],
      sources: [{ runId: sample.base.id, artifact: "model.pt" }, { externalId: "s3://data/librispeech" }],
    });
  });

  it("T16 shows untrusted texts without letting them control the terminal", async () => {
    const evil = "\u001b]0;x\u0007\u001b[2J\r\n\u202e";
    const run = await createRun(terminal.client, {
      name: `evil${evil}`,
      aliases: [`alias${evil}`],
      notes: evil,
      params: { "k\u202e": JSON.stringify(evil), n: JSON.stringify({ [evil]: [evil] }) },
      tags: { t: evil },
      provenance: {
        command: [evil],
        environment: { host: evil },
        code: { commit: evil, branch: evil, dirtyPatch: evil },
      },
    });
    await writeEnvelope(terminal.client, run, {
      series: [{ key: "m", labels: { l: "\u202e" }, texts: [evil], kind: 4, steps: [1n] }],
      log: [{ lines: [evil] }],
    });
    await terminal.client.lineage.addSource({ run: { id: run.id }, source: { id: evil } });
    for (const words of [
      ["show", run.id],
      ["show", run.id, "--provenance"],
      ["diff", run.id, sample.base.id, "--all"],
      ["lineage", run.id],
      ["logs", run.id],
    ]) {
      const { stdout, code } = await cairn(words);
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });
});
