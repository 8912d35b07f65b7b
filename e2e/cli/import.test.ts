import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { FsspecTracker } from "#sdk/tracker/fsspec/fsspec-tracker.ts";
import { LocalFileSystem } from "#sdk/tracker/fsspec/local-file-system.ts";
import { nameOf } from "#sdk/tracker/fsspec/run-names.ts";
import { dose } from "../../tools/dose.ts";
import { runCairn, useTerminal } from "./testing/cairn.ts";

const BASE = "local_cwd://torchx/base-1";
const TUNED = "local_cwd://torchx/tuned-7";
/** Runs of a sweep. */
const MANY = dose(60, 1_000);

let root: string;
let tracker: FsspecTracker;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "cairn-import-"));
  tracker = new FsspecTracker(new LocalFileSystem(), root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** An entry as Python writes it. */
async function entry(runId: string, category: string, name: string, text: string): Promise<string> {
  const folder = join(root, nameOf(runId), category);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

interface Report {
  runs: number;
  created: number;
  changed: number;
  failed: number;
  params: number;
  artifacts: number;
  links: number;
  skipped: { what: string; reason: string }[];
}

describe("cairn import fsspec", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;

  async function importAs(namespace: string, ...more: string[]): Promise<Report> {
    const ended = await cairn(["import", "fsspec", root, "--namespace", namespace, "--json", ...more]);
    expect(ended.stderr).toBe("");
    expect(ended.code).toBe(0);
    return ended.json() as Report;
  }

  const get = (namespace: string, alias: string): Promise<Run> =>
    terminal.client.runs.getRun({ run: { alias, namespace } });

  /** Everything that the server has in a namespace. */
  async function stateOf(namespace: string): Promise<unknown> {
    const { runs } = await terminal.client.runs.searchRuns({
      namespace,
      pageSize: 2_000,
      query: "order by created",
    });
    const states: unknown[] = [];
    for (const run of runs) {
      const { artifacts } = await terminal.client.artifacts.listArtifacts({ run: { id: run.id } });
      const { sources } = await terminal.client.lineage.listSources({ run: { id: run.id } });
      states.push({ run, artifacts, sources });
    }
    return states;
  }

  it("X35 brings ids as aliases, metadata as params to the letter, artifacts as references and sources as links", async () => {
    await entry(BASE, "metadata", "1794736707368236999", '{"metadata": {"lr": 1e-3, "epochs": 1, "old": 1}}');
    await entry(
      BASE,
      "metadata",
      "1794736709000000000",
      '{"metadata": {"old": 1.0, "big": 9007199254740993, "nan": NaN, "optim": {"b": [1.0, null], "a": "\\u00e9"}, "__proto__": "x"}}',
    );
    await entry(
      BASE,
      "artifacts",
      "1794736710000000000",
      '{"name": "model", "path": "s3://m/1", "metadata": null}',
    );
    await entry(
      BASE,
      "artifacts",
      "1794736711000000000",
      '{"name": "model", "path": "s3://m/2", "metadata": {"acc": 0.50}}',
    );
    await entry(TUNED, "sources", nameOf(BASE), "model\n\n");
    await entry(TUNED, "sources", nameOf("s3://data/c4"), "\n");

    const report = await importAs("team/asr");
    expect(report).toMatchObject({
      runs: 2,
      created: 2,
      changed: 0,
      failed: 0,
      params: 7,
      artifacts: 1,
      links: 3,
      skipped: [],
    });
    const base = await get("team/asr", BASE);
    expect(base).toMatchObject({
      name: "base-1",
      namespace: "team/asr",
      aliases: [BASE],
      status: RunStatus.FINISHED,
      startedUs: 1794736707368236n,
      endedUs: 1794736711000000n,
      tags: { imported: "fsspec" },
    });
    expect(Object.entries(base.params).toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ["__proto__", '"x"'],
      ["big", "9007199254740993"],
      ["epochs", "1"],
      ["lr", "1e-3"],
      ["nan", "NaN"],
      ["old", "1.0"],
      ["optim", '{"a":"é","b":[1.0,null]}'],
    ]);
    const { artifacts } = await terminal.client.artifacts.listArtifacts({ run: { id: base.id } });
    expect(artifacts).toMatchObject([{ name: "model", uri: "s3://m/2", metadata: { acc: "0.50" } }]);
    const tuned = await get("team/asr", TUNED);
    const { sources } = await terminal.client.lineage.listSources({ run: { id: tuned.id } });
    expect(sources.map(({ runId, externalId, artifact }) => [runId, externalId, artifact])).toEqual(
      expect.arrayContaining([
        [base.id, "", "model"],
        [base.id, "", ""],
        ["", "s3://data/c4", ""],
      ]),
    );
    const { children } = await terminal.client.lineage.listChildren({ run: { id: base.id } });
    expect(new Set(children.map(({ runId }) => runId))).toEqual(new Set([tuned.id]));
  });

  it("X36 a second import changes nothing, and a third brings what is new", async () => {
    await tracker.addMetadata(BASE, { lr: 0.1, optim: { name: "adam", betas: [0.9, 0.999] } });
    await tracker.addArtifact(BASE, "model", "s3://m/1", { acc: 0.5 });
    await tracker.addArtifact(BASE, "/odd\\name", "/tmp/x");
    await tracker.addSource(TUNED, BASE, "model");
    await importAs("again");
    const before = await stateOf("again");
    expect(await importAs("again")).toMatchObject({
      created: 0,
      changed: 0,
      params: 0,
      artifacts: 0,
      links: 0,
    });
    expect(await stateOf("again")).toEqual(before);

    await tracker.addMetadata(BASE, { lr: 0.2 });
    await tracker.addArtifact(BASE, "model", "s3://m/2");
    await tracker.addMetadata("third", { a: 1 });
    await tracker.addSource(TUNED, "third");
    expect(await importAs("again")).toMatchObject({
      created: 1,
      changed: 2,
      params: 2,
      artifacts: 1,
      links: 1,
    });
    expect((await get("again", BASE)).params).toMatchObject({ lr: "0.2" });
    expect(await importAs("again")).toMatchObject({ created: 0, changed: 0 });
  });

  it("X36 a run that was there before keeps its status and what it has besides", async () => {
    const { run } = await terminal.client.runs.createRun({
      namespace: "live",
      aliases: [BASE],
      params: { seed: "7" },
    });
    await tracker.addMetadata(BASE, { lr: 0.1 });
    expect(await importAs("live")).toMatchObject({ created: 0, changed: 1, params: 1 });
    const live = await get("live", BASE);
    expect(live).toMatchObject({ id: run!.id, status: RunStatus.RUNNING, params: { seed: "7", lr: "0.1" } });
    expect(live.tags).toEqual({});
  });

  it("X37 reports what it skipped and why, and imports all the rest", async () => {
    await entry(
      BASE,
      "metadata",
      "1",
      '{"metadata": {"good": 1, "deep": ' + "[".repeat(40) + "]".repeat(40) + "}}",
    );
    const torn = await entry(BASE, "metadata", "2", '{"metadata": {"lr": ');
    await mkdir(join(root, "lost+found"));
    await entry(BASE, "artifacts", "3", '{"name": "", "path": "s3://x", "metadata": null}');
    await entry(BASE, "artifacts", "4", '{"name": "ok", "path": "s3://x", "metadata": null}');
    const report = await importAs("faulty");
    expect(report).toMatchObject({ runs: 1, created: 1, failed: 0, params: 1, artifacts: 1 });
    const reasons = Object.fromEntries(report.skipped.map(({ what, reason }) => [what, reason]));
    expect(Object.keys(reasons).toSorted()).toEqual(
      [torn, join(root, "lost+found"), `artifact  of run ${BASE}`, `param deep of run ${BASE}`].toSorted(),
    );
    expect(reasons[torn]).toContain("cannot read JSON");
    expect(reasons[`param deep of run ${BASE}`]).toContain("nested deeper than 32");
    expect((await get("faulty", BASE)).params).toEqual({ good: "1" });
    const before = await stateOf("faulty");
    expect((await importAs("faulty")).skipped).toHaveLength(4);
    expect(await stateOf("faulty")).toEqual(before);

    const { code, stdout, stderr } = await cairn(["import", "fsspec", root, "--namespace", "faulty"]);
    expect(stdout).toBe(
      "Imported 1 run: 0 new, 0 changed, 1 unchanged. Sent 0 params, 0 artifacts, 0 links.\n",
    );
    expect(stderr).toContain("Skipped 4 entries:\n");
    expect(stderr).toContain(`  ${torn}: cannot read JSON`);
    expect(code).toBe(0);
  });

  it("X37 a dry run sends nothing, not even a question", async () => {
    await tracker.addMetadata(BASE, { lr: 0.1, "\u001b[31mred": 1 });
    await tracker.addSource(TUNED, BASE);
    await mkdir(join(root, "\u001b]0;title\u0007"));
    const { code, stdout, stderr } = await runCairn(["import", "fsspec", root, "--dry-run"], {
      env: { HOME: "/nowhere", CAIRN_SERVER: "http://127.0.0.1:1" },
    });
    expect(stdout).toBe("Would import 2 runs: 2 params, 0 artifacts, 1 link.\n");
    expect(stderr).toContain("\\u001b]0;title\\u0007: its name is not a run id in base32");
    expect(stderr).not.toContain("\u001b");
    expect(code).toBe(0);
  });

  it("X37 a server that is away, and a directory that is not there, end it", async () => {
    await tracker.addMetadata(BASE, { lr: 0.1 });
    const away = await cairn(["import", "fsspec", root, "--server", "http://127.0.0.1:1"]);
    expect(away.stderr).toContain("cannot reach http://127.0.0.1:1");
    expect(away.code).toBe(5);
    const nowhere = await cairn(["import", "fsspec", join(root, "nowhere")]);
    expect(nowhere.stderr).toContain("there is no such directory");
    expect(nowhere.code).toBe(3);
  });

  it("X35 brings a whole sweep with its lineage, and nothing the second time", async () => {
    for (let i = 0; i < MANY; i++) {
      const at = 1794736707368236999n + BigInt(i) * 1000n;
      const id = `slurm://torchx/sweep-${i}`;
      await entry(
        id,
        "metadata",
        String(at),
        `{"metadata": {"lr": ${i / 7}, "seed": ${i}, "name": "run ${i}"}}`,
      );
      await entry(
        id,
        "artifacts",
        String(at + 1n),
        `{"name": "model", "path": "s3://m/${i}", "metadata": {"i": ${i}}}`,
      );
      if (i > 0) await entry(id, "sources", nameOf(`slurm://torchx/sweep-${Math.floor(i / 2)}`), "model\n");
    }
    expect(await readdir(root)).toHaveLength(MANY);
    expect(await importAs("many")).toMatchObject({
      created: MANY,
      params: 3 * MANY,
      artifacts: MANY,
      links: MANY - 1,
    });
    const before = await stateOf("many");
    expect(before).toHaveLength(MANY);
    expect(await importAs("many")).toMatchObject({
      created: 0,
      changed: 0,
      params: 0,
      artifacts: 0,
      links: 0,
    });
    expect(await stateOf("many")).toEqual(before);
    const last = await get("many", `slurm://torchx/sweep-${MANY - 1}`);
    const lineage = await terminal.client.lineage.getLineage({ run: { id: last.id }, depth: 20 });
    // Each run comes from the one at half its number.
    expect(lineage.nodes.filter(({ distance }) => distance < 0)).toHaveLength(Math.ceil(Math.log2(MANY)));
  });
});
